"""Settings, bus, memory, skills, sessions and the prompt."""

import asyncio
import time
from unittest import main, mock

from support import Case, config

from chipclaw.agent.context import ContextBuilder
from chipclaw.agent.memory import MemoryStore
from chipclaw.agent.skills import SkillsManager, parse_front_matter
from chipclaw.bus.events import InboundMessage, OutboundMessage
from chipclaw.bus.queue import MessageBus
from chipclaw.config import Config
from chipclaw.network import connect
from chipclaw.session.manager import SessionManager
from chipclaw.utils import decode, safe_filename, ticks_diff, ticks_ms


class TestConfig(Case):
    def test_settings_are_laid_over_the_defaults(self):
        read = config(self.folder, agent={"model": "small"})
        self.assertEqual(read.get("agent", "model"), "small")
        self.assertEqual(read.get("agent", "max_iterations"), 15)
        self.assertEqual(read.get("channels", "uart", "tx_pin"), 17)
        self.assertEqual(read.get("agent", "none", default="d"), "d")

    def test_a_file_that_cannot_be_read_leaves_the_defaults(self):
        for text in ('{"agent":', "[]", None):
            if text is not None:
                self.write("wrong.json", text)
            with mock.patch("builtins.print"):
                read = Config(self.folder + ("/wrong.json" if text is not None else "/none.json"))
            self.assertEqual(read.get("agent", "model"), "gpt-4")


class TestBus(Case):
    def test_a_message_reaches_its_channel_alone_and_one_that_fails_stops_no_other(self):
        async def run():
            bus, heard = MessageBus(), []

            async def send(msg):
                if msg.content == "bad":
                    raise OSError("cut")
                heard.append(msg.content)
                if msg.content == "last":
                    bus.stop()

            bus.subscribe_outbound("uart", send)
            for channel, content in (("uart", "one"), ("none", "lost"), ("uart", "bad"), ("uart", "last")):
                await bus.publish_outbound(OutboundMessage(channel, "c", content))
            with mock.patch("builtins.print"):
                await bus.dispatch_outbound()
            return heard

        self.assertEqual(asyncio.run(run()), ["one", "last"])

    def test_the_key_of_a_session_is_its_channel_and_chat(self):
        self.assertEqual(InboundMessage("mqtt", "me", "desk", "hi").session_key, "mqtt:desk")


class TestMemory(Case):
    def test_the_last_three_days_are_remembered(self):
        store = MemoryStore(self.folder)
        day = [time.strftime("%Y-%m-%d", time.localtime(time.time() - back * 86400)) for back in range(4)]
        for back, date in enumerate(day):
            self.write("memory/%s.md" % date, "note %d" % back)
        store.write_long_term("The pump is on pin 4.")
        store.append_today("watered")
        found = store.get_memory_context()
        self.assertIn("The pump is on pin 4.", found)
        self.assertIn("note 0watered", found)
        self.assertIn("### %s\nnote 2" % day[2], found)
        self.assertNotIn("note 3", found)


class TestSkills(Case):
    def test_the_front_matter_is_read_by_hand(self):
        self.assertEqual(parse_front_matter('---\nname: "a: b"\n# x: 1\n---\nBody'), ({"name": "a: b"}, "Body"))
        self.assertEqual(parse_front_matter("---\nname: a"), ({}, "---\nname: a"))

    def test_those_to_load_always_are_whole_and_the_others_a_line(self):
        self.write("skills/pump/SKILL.md", "---\ndescription: Water\n---\nSteps")
        self.write("skills/lamp/SKILL.md", "---\nload: always\n---\nLight")
        skills = SkillsManager(self.folder)
        self.assertEqual([skill.body for skill in skills.get_always_skills()], ["Light"])
        self.assertEqual(
            skills.build_skills_summary(), "- pump: Water (read_file %s/skills/pump/SKILL.md)" % self.folder
        )


class TestSessions(Case):
    def test_a_conversation_is_kept_and_half_a_line_is_passed_over(self):
        session = SessionManager(self.folder).get_or_create("uart:a/b")
        for count in range(25):
            session.add_message("user", "m%d" % count)
        session.add_message("user", "x" * 1500)
        SessionManager(self.folder).save(session)
        with open(self.folder + "/sessions/uart_a_b.jsonl", "a") as file:
            file.write('{"role": "us')
        read = SessionManager(self.folder).get_or_create("uart:a/b").get_history()
        self.assertEqual(len(read), 20)
        self.assertEqual(read[0]["content"], "m6")
        self.assertEqual(read[-1]["content"], "x" * 1000 + "...(truncated)")


class TestPrompt(Case):
    def test_its_parts_have_their_order(self):
        self.write("IDENTITY.md", "Small and exact.")
        self.write("AGENTS.md", "Be brief.")
        self.write("memory/MEMORY.md", "Pin 4.")
        self.write("skills/lamp/SKILL.md", "---\nload: always\n---\nLight")
        builder = ContextBuilder(self.folder, MemoryStore(self.folder), SkillsManager(self.folder))
        prompt = builder.build_system_prompt("uart", "desk")
        order = ["# ChipClaw", "cpython 3.", "Chat: uart:desk", "# AGENTS.md", "# IDENTITY.md", "# Memory", "# Skill: lamp"]
        places = [prompt.index(part) for part in order]
        self.assertEqual(places, sorted(places))


class TestSmallThings(Case):
    def test_a_clock_of_milliseconds_goes_on(self):
        begun = ticks_ms()
        self.assertGreaterEqual(ticks_diff(ticks_ms(), begun), 0)

    def test_names_and_letters(self):
        self.assertEqual(safe_filename("mqtt:a/b"), "mqtt_a_b")
        self.assertEqual(decode("grün".encode()[:3]), "gr")

    def test_without_the_module_network_the_rest_goes_on(self):
        with mock.patch("builtins.print") as said:
            self.assertFalse(connect(config(self.folder)))
        self.assertIn("no module network", str(said.call_args))


if __name__ == "__main__":
    main()
