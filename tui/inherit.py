"""What the application hands to a live session: its rules, its past, and ways to reach the person."""

from __future__ import annotations

import io
import time
from pathlib import Path
from typing import TYPE_CHECKING

from core.store.policy import PROJECT_FILE, chosen_policy
from core.store.policy import USER_FILE as POLICY_FILE
from core.store.rules import USER_FILE, RuleFiles, project_file
from tui.heritage import Heritage
from tui.messages import Noticed
from tui.notices import Told
from tui.options import user_file

if TYPE_CHECKING:
    from tui.app import NooscopeApp

_TITLES = {"needs_you": "Needs you", "risk": "Risk", "done": "Done"}


class Terminal(io.StringIO):
    """The terminal the screen is drawn on, for bells and desktop notices."""

    def __init__(self, app: NooscopeApp) -> None:
        super().__init__()
        self._app = app

    def write(self, text: str) -> int:
        """Hand it to the driver, which alone may write there."""
        driver = self._app._driver
        if driver is not None and not self._app.is_headless:
            driver.write(text)
        return len(text)


def inherit(app: NooscopeApp) -> Heritage:
    """The heritage of the session that is about to be shown live."""
    files = RuleFiles([user_file().with_name(USER_FILE), project_file(Path.cwd())])
    rules = files.load()
    policy, faults = chosen_policy([user_file().with_name(POLICY_FILE), Path.cwd() / PROJECT_FILE])

    def show(told: Told) -> None:
        app.post_message(Noticed(told.kind, _TITLES.get(told.kind, told.kind), told.line))

    heritage = Heritage(
        app.settings,
        rules=rules,
        policy=policy,
        use=app.settings.response.prior.enabled,
        app=show,
        stream=Terminal(app),
        wall=time.time,
    )
    heritage.problems += [*map(str, files.faults), *faults]
    return heritage
