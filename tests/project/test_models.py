"""Import contracts do not see a foreign key that is written as a string: this does."""

from django.apps import apps

HEIGHT = {"memory": 0, "chat": 1, "escalations": 2}


def test_foreign_keys_point_down_only() -> None:
    upward = [
        f"{model._meta.label}.{field.name} -> {field.related_model._meta.label}"
        for label, height in HEIGHT.items()
        for model in apps.get_app_config(label).get_models()
        for field in model._meta.get_fields()
        if field.is_relation and not field.auto_created and not isinstance(field.related_model, str)
        if field.related_model is not None
        if HEIGHT.get(field.related_model._meta.app_label, -1) > height
    ]
    assert upward == []
