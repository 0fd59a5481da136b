"""python -m lib.spectral: the table, and verdicts that rest on the same seed study as the page's."""

from lib.spectral import __main__ as command
from lib.spectral import claims


def test_verdicts_of_the_command_read_the_shipped_study(minilm, capsys, monkeypatch):
    row = {"loss": "validation", "seeds": 3, "pairs": 3, "difference": -0.05, "low": -0.06, "high": -0.04}
    study = [row | {"variant": variant} for variant in ("ega1", "ega1-window")]
    monkeypatch.setattr(claims, "shipped_comparison", lambda: study)
    command.main(["all-MiniLM-L6-v2", "encyclopedia", "--windows", "4", "--length", "20", "--verdicts"])
    told = capsys.readouterr().out
    assert "4 windows of 20 tokens" in told and "| L5 |" in told
    assert "Energy gating lowers the validation loss by 0.103 nats.  →  reproduced" in told
    assert "validation loss, ega1 − base, nats per character: −0.05 [−0.06, −0.04]" in told
    assert "energy ratio(≥ 20), layers 1–2 minus layers 5–6: not defined, null" in told
    assert "nan" not in told
