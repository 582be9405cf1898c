"""The panels of the Model screen, of the agents and of extensions."""
