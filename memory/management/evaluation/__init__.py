"""The suites of `manage.py evaluate`, one module each.

A suite is a module with two functions, found by its name in `<app>.management.evaluation`:

    read(path: Path) -> data            raises form.FormError, which names the line
    run(data, say) -> dict              the figures, and "outcomes", from which they follow

`say(line)` prints. A suite imports front doors alone (memory.services, memory.models, memory.types,
chat.turns); it finds an empty, migrated database of its own and may leave anything in it.
"""
