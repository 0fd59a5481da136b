import pandas as pd

from lib.heads.measure import markdown, strongest_heads
from lib.heads.roles import with_roles
from tests.heads.test_roles import heads


def test_the_strongest_head_of_every_role_that_some_head_has():
    rows = [{"self": (0.5, 0.01, 0.4, 0.6)}, {"self": (0.7, 0.01, 0.6, 0.8)}, {"sep": (0.6, 0.01, 0.5, 0.7)}]
    table = with_roles(pd.concat([heads(**row) for row in rows], ignore_index=True), documents=9)
    assert [(rule.role, row) for rule, row in strongest_heads(table)] == [("itself", 1), ("delimiter: [SEP]", 2)]


def test_the_table_is_markdown():
    table = pd.DataFrame(
        [
            {
                "role": "itself", "head": "L0 H1", "score": 0.5, "chance": 0.01, "change": 0.02, "low": 0.01,
                "high": 0.03, "drawn": 0.001, "on": "the corpus",
            }
        ]
    )  # fmt: skip
    table.attrs = {"documents": 3, "tokens": 100, "measure": "nats"}
    text = markdown("a model", table)
    assert "| itself | L0 H1 | 0.5 | 0.01 | +0.0200 (+0.0100 … +0.0300) | +0.0010 | the corpus |" in text
    assert all(line.count("|") == 8 for line in text.splitlines() if line.startswith("|"))
