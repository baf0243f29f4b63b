"""The prompt: identity, bootstrap files, memory, skills."""

import sys
import time

from chipclaw.utils import flash, free_memory, read_text, today_date

BOOTSTRAP = ("AGENTS.md", "IDENTITY.md", "SOUL.md", "USER.md", "TOOLS.md")
MOST_BYTES = 8 * 1024
# Before the clock is set, a board counts from 1970 or 2000.
FIRST_YEAR = 2024


class ContextBuilder:
    def __init__(self, workspace, memory, skills):
        self.workspace = workspace
        self.memory = memory
        self.skills = skills

    def build_system_prompt(self, channel, chat_id):
        parts = [self._identity(channel, chat_id)]
        for name in BOOTSTRAP:
            text = read_text(self.workspace + "/" + name, MOST_BYTES)
            if text:
                parts.append("# " + name + "\n" + text.strip())
        memory = self.memory.get_memory_context()
        if memory:
            parts.append("# Memory\n" + memory)
        for skill in self.skills.get_always_skills():
            parts.append("# Skill: " + skill.name + "\n" + skill.body)
        summary = self.skills.build_skills_summary()
        if summary:
            parts.append("# Skills to read when they are needed\n" + summary)
        return "\n\n".join(parts)

    def build_messages(self, history, current_message, channel, chat_id):
        messages = [{"role": "system", "content": self.build_system_prompt(channel, chat_id)}]
        messages.extend(history)
        messages.append({"role": "user", "content": current_message})
        return messages

    def add_assistant_message(self, messages, content, tool_calls=None):
        message = {"role": "assistant", "content": content}
        if tool_calls:
            message["tool_calls"] = tool_calls
        messages.append(message)

    def add_tool_result(self, messages, tool_call_id, result):
        messages.append({"role": "tool", "tool_call_id": tool_call_id, "content": result})

    def _identity(self, channel, chat_id):
        return "\n".join(
            [
                "# ChipClaw",
                "You are ChipClaw, an agent that runs on a microcontroller and controls its hardware.",
                "Board: " + _board(),
                "Free RAM: " + _kilobytes(free_memory()),
                "Flash: " + _flash(),
                "Date: " + _now(),
                "Chat: " + channel + ":" + chat_id,
                "Workspace: " + self.workspace,
                "Remember for long in memory/MEMORY.md; notes of the day go to memory/%s.md." % today_date(),
            ]
        )


def _board():
    python = sys.implementation
    version = ".".join([str(number) for number in python.version[:3]])
    name = "MicroPython" if python.name == "micropython" else python.name
    return "%s, %s %s" % (getattr(python, "_machine", None) or sys.platform, name, version)


def _kilobytes(count):
    return "unknown" if count is None else "%d KB" % (count // 1024)


def _flash():
    found = flash()
    if found is None:
        return "unknown"
    return "%s free of %s" % (_kilobytes(found[0]), _kilobytes(found[1]))


def _now():
    t = time.localtime()
    if t[0] < FIRST_YEAR:
        return "unknown, the clock is not set"
    return "%s %02d:%02d UTC" % (today_date(), t[3], t[4])
