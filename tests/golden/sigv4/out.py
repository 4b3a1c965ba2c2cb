"""Writing vectors."""
import json
import os


def text(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(value)


def document(path, value):
    text(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")
