"""One small file of our own for each suite of `evaluate`, in the form that they are measured in."""

import json

TOPIC = {
    "key": "pickup_point",
    "category": "preference",
    "cardinality": "one",
    "label": "Pickup point",
    "description": "Where this customer fetches parcels.",
    "examples": ["I always fetch my parcels at the station", "send them to the kiosk please"],
    "not_examples": ["Where is the kiosk?"],
    "permanent": False,
    "sensitive": False,
}
HEADER = {"domain": "parcels", "timezone": "Europe/London", "topics": [TOPIC]}


def said(*texts, sender="customer"):
    return [{"from": sender, "text": text} for text in texts]


MEMORY = [
    HEADER,
    {
        "id": "m1",
        "about": "a plain preference is kept, a question is not",
        "tags": ["save"],
        "sessions": [
            {
                "customer": "c1",
                "at": "2026-03-02T09:15:00+00:00",
                "messages": said("I always fetch my parcels at the station."),
            },
            {
                "customer": "c2",
                "at": "2026-03-02T10:15:00+00:00",
                "messages": said("Where is the kiosk?"),
            },
        ],
        "check_at": "2026-03-03T09:00:00+00:00",
        "expect": {
            "c1": {"active": [{"includes": ["station"]}], "max_active": 2},
            "c2": {"absent": [{"includes": ["kiosk"]}], "max_active": 0},
        },
        "asks": [
            {
                "customer": "c1",
                "at": "2026-03-09T09:00:00+00:00",
                "text": "Where do I fetch my parcels?",
                "recalls": ["station"],
                "never": ["kiosk"],
            }
        ],
    },
]
GATE = [
    {"id": "g1", "before": [], "text": "Hello!", "retrieve": False, "save": False},
    {
        "id": "g2",
        "before": [],
        "text": "Please send it to my usual pickup point, I always use the station.",
        "retrieve": True,
        "save": True,
    },
]
ANSWERS = {
    "stored": [
        {
            "id": "s1",
            "question": "How long is a parcel kept at the kiosk?",
            "more_questions": ["until when can I fetch it?"],
            "answer": "Seven days.",
        },
        {"id": "s2", "question": "Can a neighbour fetch it?", "answer": "Yes, with the code."},
    ],
    "asks": [
        {"id": "a1", "text": "How long is a parcel kept at the kiosk?", "expected": "s1"},
        {"id": "a2", "text": "Do you sell stamps for collectors?", "expected": None},
    ],
}
RETRIEVAL = [
    {"timezone": "Europe/London", "topics": [TOPIC]},
    *(
        {
            "memory": {
                "id": f"m{n}",
                "customer": customer,
                "text": text,
                "topic": topic,
                "at": "2026-02-02T09:00:00+00:00",
                "importance": 0.5,
                "status": "active",
                "valid_until": None,
            }
        }
        for n, (customer, text, topic) in enumerate(
            [
                ("c1", "Fetches parcels at the station", "pickup_point"),
                ("c1", "Has a dog", None),
                ("c2", "Fetches parcels at the kiosk", "pickup_point"),
            ]
        )
    ),
    {
        "query": {
            "id": "q1",
            "customer": "c1",
            "at": "2026-03-02T09:00:00+00:00",
            "text": "Where do I fetch my parcels?",
            "expected": ["m0"],
            "never": ["m2"],
        }
    },
]
TURNS = [
    {
        **HEADER,
        "opening_hours": "Monday to Friday, 8 to 17",
        "now": "2026-03-02T10:00:00+00:00",
        "emergency": ["it is on fire"],
    },
    {
        "id": "t1",
        "before": [],
        "memories": [],
        "stored": [
            {"id": "s1", "question": "Can a neighbour fetch it?", "answer": "Yes, with the code."}
        ],
        "text": "Can a neighbour fetch it?",
        "expected": ["answer:s1"],
    },
    {
        "id": "t2",
        "before": [],
        "memories": [],
        "stored": [],
        "text": "Help, it is on fire",
        "expected": ["emergency"],
    },
]


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


SAMPLES = {
    "memory": lines(MEMORY),
    "gate": lines(GATE),
    "answers": json.dumps(ANSWERS),
    "retrieval": lines(RETRIEVAL),
    "turns": lines(TURNS),
}
