"""Report: everything the rooms measure of one model on one corpus, as one page that needs nothing else.

``python -m lib.report MODEL CORPUS --out page.html``. It measures nothing itself: ``sections.report`` asks the rooms
and lays out their numbers with their chance levels and verdicts, ``page`` is the HTML.
"""
