"""Judges a recorded history of changes on several machines: `check_history.py FILE`.

Each line of the file is one of
    {"ack": machine, "account": name, "value": text or null}    a change that returned; null for a deletion
    {"final": machine, "items": {name: value}}                  what a machine has at the end
    {"history": machine, "items": {name: [value, ...]}}         the former versions that it has then
    {"alarm": machine, "text": text}                            what it reported

It demands that all machines are the same at the end, that each item has a value that somebody gave it and that its
giver did not replace itself, that each change is in force or in the history of its machine, and that nobody reported
anything.
"""
import json
import sys


def problems(lines):
    acks, final, history = [], {}, {}
    for line in lines:
        entry = json.loads(line)
        if "ack" in entry:
            acks.append((entry["ack"], entry["account"], entry["value"]))
        elif "final" in entry:
            final[entry["final"]] = entry["items"]
        elif "history" in entry:
            history[entry["history"]] = entry["items"]
        else:
            yield f"machine {entry['alarm']} reported: {entry['text']}"
    machines = sorted(final)
    for machine in machines[1:]:
        for name in sorted(set(final[machine]) | set(final[machines[0]])):
            one, other = final[machines[0]].get(name), final[machine].get(name)
            if one != other:
                yield f"machines {machines[0]} and {machine} differ in '{name}': {one} and {other}"
    last = {}
    for machine, name, value in acks:
        last.setdefault(name, {})[machine] = value
    for name in sorted(set(last) | {name for items in final.values() for name in items}):
        for machine in machines:
            value = final[machine].get(name)
            if value not in last.get(name, {}).values():
                yield f"machine {machine} has '{value}' in '{name}', which nobody gave it last"
    # With a deletion, the history of an item ends.
    deleted = {name for _, name, value in acks if value is None}
    for machine, name, value in acks:
        if name in deleted or machine not in final:
            continue
        if value != final[machine].get(name) and value not in history.get(machine, {}).get(name, []):
            yield f"machine {machine} lost '{value}' of '{name}'"


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = [line for line in file if line.strip()]
    found = list(problems(lines))
    for problem in found[:20]:
        print(problem)
    print(f"{len(lines)} lines: " + (f"{len(found)} problems" if found else "OK"))
    sys.exit(1 if found else 0)
