"""What is made to be sent to a person."""
