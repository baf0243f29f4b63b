"""The tools, with the pins of the test."""

import json
import sys
from unittest import main, mock

from support import Case, Pin, PWM, Reset, Timer, config

from chipclaw.agent.tools import hardware
from chipclaw.app import create_tools
from chipclaw.bus.queue import MessageBus


class ToolCase(Case):
    def setUp(self):
        super().setUp()
        self.bus = MessageBus()
        self.config = config(self.folder)
        self.tools = create_tools(self.config, self.bus)
        self.addCleanup(self._forget_programs)

    def call(self, name, **params):
        return self.tools.execute(name, params)

    def run_code(self, code):
        return self.call("exec_micropython", code=code)

    def _forget_programs(self):
        workspace = self.config.workspace
        sys.path[:] = [path for path in sys.path if path != workspace]
        for name, module in list(sys.modules.items()):
            if (getattr(module, "__file__", None) or "").startswith(workspace):
                del sys.modules[name]


class TestRegistry(ToolCase):
    def test_all_are_offered_as_functions(self):
        offered = self.tools.get_definitions()
        self.assertEqual(len(offered), 8)
        self.assertTrue(all(one["type"] == "function" for one in offered))

    def test_a_wrong_call_is_an_error_in_words(self):
        self.assertEqual(self.call("fly"), "Error: Tool 'fly' not found")
        self.assertEqual(self.call("gpio", pin=2), "Error: gpio needs mode")
        self.assertTrue(self.call("gpio", pin=2, mode="read", colour="red").startswith("Error: "))


class TestFiles(ToolCase):
    def test_a_file_is_written_read_and_listed(self):
        self.assertEqual(self.call("write_file", path="a/b.txt", content="grün"), "Wrote 5 bytes to a/b.txt")
        self.assertEqual(self.call("read_file", path="a/b.txt"), "grün")
        self.assertEqual(json.loads(self.call("list_dir", path="a")), [{"name": "b.txt", "type": "file", "size": 5}])
        self.call("write_file", path="long.txt", content="y" * 11000)
        self.assertEqual(self.call("read_file", path="long.txt"), "y" * 10240 + "...(truncated)")

    def test_nothing_outside_of_the_workspace(self):
        for path in ("/etc/passwd", "../config.json", "a/../../config.json"):
            self.assertIn("is outside of", self.call("read_file", path=path))
            self.assertIn("is outside of", self.call("write_file", path=path, content=""))


class TestHardware(ToolCase):
    def test_pins_are_read_and_written(self):
        self.assertEqual(json.loads(self.call("gpio", pin=2, mode="write", value=1)), {"pin": 2, "value": 1})
        self.assertEqual(Pin.levels[2], 1)
        self.assertEqual(json.loads(self.call("gpio", pin=2, mode="read")), {"pin": 2, "value": 1})
        Pin.levels[4] = 40000
        self.assertEqual(json.loads(self.call("gpio", pin=4, mode="adc"))["value"], 40000)

    def test_a_wave_ends_where_its_pin_is_used_otherwise(self):
        self.call("gpio", pin=5, mode="pwm", value=32768, freq=50)
        self.assertEqual(PWM.waves[5], {"freq": 50, "duty": 32768})
        self.call("gpio", pin=5, mode="write", value=0)
        self.assertEqual(PWM.waves[5], {})

    def test_the_bus_is_searched(self):
        self.assertEqual(json.loads(self.call("i2c_scan", scl=22, sda=21)), {"addresses": ["0x3c", "0x76"]})

    def test_without_the_module_machine_it_says_so(self):
        with mock.patch.object(hardware, "machine", None):
            self.assertIn("no module machine", self.call("gpio", pin=2, mode="read"))


class TestPrograms(ToolCase):
    def test_what_a_program_prints_is_the_result(self):
        for code, result in (
            ('print("a", 1)\nprint("b", end="")', "a 1\nb"),
            ("6 * 7", "42\n"),
            ("x = 1", "(no output)"),
            ("print(__workspace__)", self.config.workspace + "\n"),
            ('import sys\nprint("x", file=sys.stdout)\nsys.exit()', "x\n(the program called exit)\n"),
            ('print("y" * 5000)', "y" * 4096 + "...(truncated)"),
        ):
            self.assertEqual(self.run_code(code), result)
        self.assertIn("ZeroDivisionError", self.run_code('print("before")\n1/0'))

    def test_what_an_imported_module_prints_is_part_of_it(self):
        self.call("write_file", path="blink.py", content='print("from a module")\ndef go():\n    print("gone")\n')
        with mock.patch("chipclaw.agent.tools.exec_mpy._print", wraps=print) as printed:
            result = self.run_code('import blink\nblink.go()\nprint("own")')
        self.assertEqual(result, "from a module\ngone\nown\n")
        self.assertEqual(printed.call_count, 3)
        console = mock.Mock()
        with mock.patch.object(sys, "stdout", console):
            print("later")
        self.assertTrue(console.write.called)

    def test_a_program_that_does_not_end_makes_the_board_start_anew_and_the_chat_is_told(self):
        self.tools.set_context("uart", "desk")
        with self.assertRaises(Reset):
            self.run_code("import machine\ntimer = machine.Timer.running[0]\ntimer.callback(timer)")
        self.assertEqual(Timer.running, [])
        again = create_tools(self.config, self.bus).get("exec_micropython")
        self.assertEqual(again.take_overrun(), ("uart", "desk"))
        self.assertIsNone(again.take_overrun())

    def test_the_limit_ends_with_its_program(self):
        code = "import machine\nprint([timer.period for timer in machine.Timer.running])"
        self.assertEqual(self.run_code(code), "[60000]\n")
        self.assertEqual(Timer.running, [])
        unlimited = create_tools(config(self.folder, tools={"exec_timeout_s": 0}), self.bus)
        self.assertEqual(unlimited.execute("exec_micropython", {"code": code}), "[]\n")


class TestFetch(ToolCase):
    def test_a_page_is_fetched_and_cut(self):
        plain = {"Content-Type": "text/plain"}
        at, _ = self.serve((200, plain, b"short"), (200, plain, b"z" * 9000), (404, plain, b"none here"))
        self.assertEqual(self.call("http_fetch", url=at), "short")
        self.assertEqual(self.call("http_fetch", url=at), "z" * 4096 + "...(truncated)")
        self.assertEqual(self.call("http_fetch", url=at), "HTTP 404\nnone here")

    def test_it_does_not_ask_for_a_compressed_page(self):
        at, requests = self.serve((200, {}, b"plain"))
        self.call("http_fetch", url=at)
        self.assertEqual(requests[0][1]["Accept-Encoding"], "identity")

    def test_other_addresses_are_refused(self):
        self.assertIn("begins with http", self.call("http_fetch", url="file:///config.json"))


class TestMessage(ToolCase):
    def test_it_goes_to_this_chat_or_another_channel(self):
        for name in ("uart", "mqtt"):
            self.bus.subscribe_outbound(name, None)
        self.tools.set_context("uart", "desk")
        self.assertEqual(self.call("message", content="hi"), "Sent to uart:desk")
        self.assertEqual(self.call("message", content="hi", channel="mqtt", chat_id="lab"), "Sent to mqtt:lab")
        self.assertIn("there is no channel fax", self.call("message", content="hi", channel="fax"))


if __name__ == "__main__":
    main()
