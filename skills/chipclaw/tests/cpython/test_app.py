"""The whole agent: from a line or a topic to the model and back."""

import asyncio
import json
from unittest import main, mock

from support import UART, Case, MQTTClient, completion, config

from chipclaw.app import App
from chipclaw.bus.events import InboundMessage
from chipclaw.providers.base import ProviderError
from chipclaw.providers.http_provider import HTTPProvider


class AppCase(Case):
    def start(self, until, **settings):
        """Run the agent until the condition holds."""

        async def run():
            app = App(config(self.folder, **settings))
            running = asyncio.create_task(app.run())
            try:
                while not until(app):
                    self.assertFalse(running.done(), "the agent has ended")
                    await asyncio.sleep(0.01)
                return app
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)

        with mock.patch("builtins.print"):
            return asyncio.run(run())


def said(_=None):
    """Return what the board has written on its line, without frames."""
    return [line["content"] for line in UART.line.lines if "content" in line]


class TestLine(AppCase):
    def talk(self, *lines, answers, **settings):
        at, requests = self.serve(*answers)
        for line in lines:
            UART.line.say(line)
        self.start(lambda _: len(said()) >= len(lines), provider={"api_base": at, "api_key": "sk-b"}, **settings)
        return [json.loads(body) for _, _, body in requests], requests

    def test_a_line_is_answered_and_so_is_the_next(self):
        bodies, requests = self.talk(
            "How warm is it?",
            '{"content": "Really?", "sender_id": "me"}',
            answers=[completion("21 degrees."), completion("As I said.")],
        )
        self.assertEqual(said(), ["21 degrees.", "As I said."])
        self.assertEqual(requests[0][0], "/chat/completions")
        self.assertEqual(requests[0][1]["Authorization"], "Bearer sk-b")
        self.assertEqual([one["content"] for one in bodies[1]["messages"][1:]], ["How warm is it?", "21 degrees.", "Really?"])

    def test_the_model_uses_a_pin(self):
        lamp = completion(None, [("gpio", {"pin": 2, "mode": "write", "value": 1})], "tool_calls")
        bodies, _ = self.talk("LED on", answers=[lamp, completion("It is on.")])
        self.assertEqual(said(), ["It is on."])
        self.assertEqual(json.loads(bodies[1]["messages"][-1]["content"]), {"pin": 2, "value": 1})

    def test_a_model_that_calls_tools_without_end_is_stopped(self):
        again = completion(None, [("list_dir", {})], "tool_calls")
        self.talk("Go on", answers=[again] * 3, agent={"max_iterations": 3})
        self.assertIn("I stopped after 3 rounds", said()[0])

    def test_a_line_is_relayed_to_the_broker(self):
        relay = completion(None, [("message", {"content": "hot", "channel": "mqtt", "chat_id": "lab"})], "tool_calls")
        mqtt = {"enabled": True, "broker": "b", "allow_from": ["me"]}
        self.talk("Tell the lab", answers=[relay, completion("Told.")], channels={"mqtt": mqtt})
        self.assertIn(("chipclaw/out", {"content": "hot", "chat_id": "lab"}), MQTTClient.published)

    def test_more_than_thirty_messages_in_ten_minutes_are_ignored(self):
        agent = App(config(self.folder)).agent
        self.assertFalse(any([agent._is_loop("uart:desk") for _ in range(30)]))
        with mock.patch("builtins.print"):
            asyncio.run(agent._handle_message(InboundMessage("uart", "me", "desk", "again")))
        self.assertEqual(agent.bus.outbound.qsize(), 0)


class TestBroker(AppCase):
    def test_a_message_is_answered_on_the_other_topic_and_a_stranger_is_not(self):
        at, requests = self.serve(completion("Hello."))
        MQTTClient.arriving[:] = [
            {"content": "let me in", "sender_id": "stranger"},
            {"content": "hi", "sender_id": "me", "chat_id": "desk"},
        ]
        mqtt = {"enabled": True, "broker": "b", "allow_from": ["me"]}
        self.start(lambda _: MQTTClient.published, provider={"api_base": at}, channels={"mqtt": mqtt, "uart": {"enabled": False}})
        self.assertEqual(MQTTClient.published, [("chipclaw/out", {"content": "Hello.", "chat_id": "desk"})])
        self.assertEqual(len(requests), 1)


class TestAssistant(AppCase):
    def test_it_is_told_the_tools_and_calls_them(self):
        def answer(line, frame):
            if frame.get("frame") == "hello":
                link = frame["link"]
                call = {"frame": "call", "link": link, "id": "1", "tool": "gpio", "args": {"pin": 3, "mode": "write", "value": 1}}
                line.say(json.dumps(call))
                line.say(json.dumps(dict(call, link="of yesterday", id="2")))
                line.say(json.dumps(dict(call, id="3", tool="_stat", args={"path": "/config.json"})))

        def results(_=None):
            return {line["id"]: line for line in UART.line.lines if line.get("frame") == "result"}

        UART.line.on_line = answer
        self.start(lambda _: "3" in results())
        self.assertEqual(sorted(results()), ["1", "3"])
        self.assertEqual(json.loads(results()["1"]["value"]), {"pin": 3, "value": 1})
        self.assertIn("holds keys", results()["3"]["value"])


class TestOverrun(AppCase):
    def test_the_chat_is_told_after_the_restart(self):
        self.write("data/overrun.json", '["uart", "uart_default"]')
        self.start(said)
        self.assertIn("The program took longer than 60 s", said()[0])


class TestProvider(Case):
    def ask(self, at, key="k"):
        return asyncio.run(HTTPProvider(key, at, 20).chat([{"role": "user", "content": "hi"}]))

    def test_text_calls_and_usage_are_read(self):
        at, _ = self.serve(completion("Hello.", [("gpio", {"pin": 2})], "tool_calls"))
        found = self.ask(at)
        self.assertEqual(found.content, "Hello.")
        self.assertTrue(found.has_tool_calls)
        self.assertEqual((found.tool_calls[0].name, found.tool_calls[0].arguments), ("gpio", {"pin": 2}))
        self.assertEqual(found.usage, {"total_tokens": 7})

    def test_a_busy_server_is_asked_once_more(self):
        at, requests = self.serve((503, {"Retry-After": "0"}, b""), completion("Now."))
        self.assertEqual(self.ask(at).content, "Now.")
        self.assertEqual(len(requests), 2)

    def test_a_redirect_does_not_get_the_key(self):
        at, requests = self.serve((302, {"Location": "http://127.0.0.1:9/"}, b""))
        with self.assertRaises(ProviderError):
            self.ask(at)
        self.assertEqual(len(requests), 1)

    def test_what_goes_wrong_is_told_in_words(self):
        for answer, words in (
            ((401, {}, b""), "refuses the key"),
            ((500, {}, b"oh"), "the error 500: oh"),
            ((200, {}, b"<html>"), "answer is none"),
            ((200, {}, b"x" * 60000), "longer than 50 KB"),
        ):
            at, _ = self.serve(answer)
            with self.assertRaises(ProviderError) as caught:
                self.ask(at)
            self.assertIn(words, str(caught.exception))
        with self.assertRaises(ProviderError) as caught:
            self.ask("http://127.0.0.1:9")
        self.assertIn("cannot be reached", str(caught.exception))


if __name__ == "__main__":
    main()
