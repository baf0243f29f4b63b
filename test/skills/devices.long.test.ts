import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { constants, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ReadStream } from 'node:tty';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { CA, CERTIFICATE, KEY } from '../../src/testing/channel/loopback-certificate.ts';
import { describeWithEngine } from '../../src/testing/engine.ts';
import { freePort } from '../../src/testing/free-port.ts';
import {
  type AnthropicScript,
  type AnthropicServer,
  lastToolResults,
  lastUserText,
  startAnthropicServer,
} from '../../src/testing/model/anthropic.ts';
import { Assistant } from '../story/assistant.ts';
import { type Clone, cloneWithoutProof, runThere } from '../story/clone.ts';

// Debian's mosquitto, socat and curl are the far ends. `.ci/run` installs them.
const PROGRAMS = [
  'mosquitto',
  'mosquitto_pub',
  'mosquitto_sub',
  'mosquitto_passwd',
  'socat',
  'curl',
];
const MISSING = PROGRAMS.filter(
  (name) => spawnSync('sh', ['-c', `command -v ${name} /usr/sbin/${name}`]).status !== 0,
);
const MINUTES = 20 * 60_000;
const USER = { name: 'andy', password: 'a-word-of-its-own' };
const BURST = 1_000;

/** A model that relays `tell <folder>: <text>` by `send_message`; anything else is repeated. */
const repeatOrRelay: AnthropicScript = (request) => {
  if (lastToolResults(request).length > 0) return [{ type: 'text', text: 'Told.' }];
  const line = (lastUserText(request).split('\n').at(-1) ?? '').replace(/^\[[^\]]*\] [^:]*: /, '');
  const [, group, text] = /^tell ([\w-]+): (.+)$/.exec(line) ?? [];
  if (group === undefined) return [{ type: 'text', text: `Heard: ${line}` }];
  return [{ type: 'tool_use', name: 'send_message', input: { group, text } }];
};

/** Collects the lines of a stream. */
function linesOf(stream: NodeJS.ReadableStream): string[] {
  const lines: string[] = [];
  let rest = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    const pieces = (rest + chunk).split('\n');
    rest = pieces.pop() ?? '';
    lines.push(...pieces);
  });
  return lines;
}

const until = (isSo: () => void) => vi.waitFor(isSo, { timeout: 180_000, interval: 50 });

if (MISSING.length > 0 && process.env['CLAW_REQUIRE_ENGINE'] === '1') {
  test('has its far ends', () => expect(MISSING).toEqual([]));
}

await describeWithEngine(
  'bubblewrap',
  'devices on a real broker, a serial line and by HTTP',
  () => {
    let folder: string;
    let model: AnthropicServer;
    let clone: Clone;
    let assistant: Assistant;
    let board: ReadStream;
    let boardReads: string[];
    let onTopics: string[];
    let port: number;
    const ends: (() => void)[] = [];
    const file = (name: string) => join(folder, name);
    const start = (name: string, ...args: readonly string[]) => {
      const child = spawn(name, args, { stdio: ['pipe', 'pipe', 'inherit'] });
      ends.push(() => child.kill());
      return child;
    };
    const client = (topic: string) =>
      [
        '-h',
        '127.0.0.1',
        '-p',
        String(port),
        '-u',
        USER.name,
        '-P',
        USER.password,
        '-q',
        '1',
        '-t',
        topic,
      ] as const;
    const publish = (topic: string, message: object) =>
      execFileSync('mosquitto_pub', [...client(topic), '-m', JSON.stringify(message)]);

    beforeAll(async () => {
      folder = mkdtempSync('/tmp/claw-devices-');
      port = await freePort();
      const tlsPort = await freePort();
      for (const [name, text] of Object.entries({
        'ca.pem': CA,
        'cert.pem': CERTIFICATE,
        'key.pem': KEY,
      })) {
        writeFileSync(file(name), text);
      }
      execFileSync('mosquitto_passwd', ['-c', '-b', file('passwd'), USER.name, USER.password]);
      writeFileSync(
        file('mosquitto.conf'),
        [
          ...['user root', 'allow_anonymous false', `password_file ${file('passwd')}`],
          ...['max_queued_messages 0', 'persistence true', `persistence_location ${folder}/`],
          ...[`listener ${port} 127.0.0.1`, `listener ${tlsPort} 127.0.0.1`],
          ...[`certfile ${file('cert.pem')}`, `keyfile ${file('key.pem')}`, ''],
        ].join('\n'),
      );
      start('/usr/sbin/mosquitto', '-c', file('mosquitto.conf'));
      await until(() => publish('hello', {}));
      onTopics = linesOf(start('mosquitto_sub', ...client('#'), '-F', '%t %p').stdout);
      start('socat', `pty,raw,echo=0,link=${file('board')}`, `pty,raw,echo=0,link=${file('line')}`);
      await until(() => {
        board = new ReadStream(openSync(file('board'), constants.O_RDWR | constants.O_NOCTTY));
      });
      boardReads = linesOf(board);
      model = await startAnthropicServer(repeatOrRelay);
      clone = cloneWithoutProof({
        ANTHROPIC_API_KEY: 'sk-ant-test',
        ANTHROPIC_BASE_URL: model.url,
        CLAW_SANDBOX: 'bubblewrap',
        MQTT_URL: `mqtts://127.0.0.1:${tlsPort}`,
        MQTT_CA_FILE: file('ca.pem'),
        MQTT_USERNAME: USER.name,
        MQTT_PASSWORD: USER.password,
        MQTT_ALLOW_FROM: 'esp32',
        MQTT_TOPICS: 'kitchen=kitchen/in>kitchen/out',
        SERIAL_PORT: file('line'),
        SERIAL_ALLOW_FROM: 'uart_user',
        SERIAL_IS_OWNER: 'yes',
      });
      const run = await clone.claw('apply', 'mqtt', 'serial', 'webhook');
      expect(run).toMatchObject({ code: 0, json: { outcome: 'done' } });
      assistant = await Assistant.start(clone);
    }, MINUTES);

    afterAll(async () => {
      await assistant?.stop();
      board?.destroy();
      for (const end of ends) end();
      await clone?.[Symbol.asyncDispose]();
      await model?.close();
      rmSync(folder, { recursive: true, force: true });
    }, MINUTES);

    test(
      'one message in on each is answered on that one',
      async () => {
        await until(() => expect(onTopics).toContain('patchclaw/status online'));
        publish('kitchen/in', { content: 'is it hot?', sender_id: 'esp32' });
        publish('kitchen/in', { content: 'let me in', sender_id: 'eve' });
        board.write('{"content": "is it wet?"}\n');
        await until(() =>
          expect(onTopics).toContain(
            'kitchen/out {"content":"Heard: is it hot?","chat_id":"kitchen"}',
          ),
        );
        await until(() =>
          expect(boardReads).toContain('{"content":"Heard: is it wet?","chat_id":"uart_default"}'),
        );
        const args = ['setup', 'webhook', 'add', 'door', '--does', 'message'] as const;
        const made = await runThere(clone.root, [clone.nodePath, 'bin/claw.js', ...args]);
        const line =
          /^.*(curl .*\/hooks\/door)\s*$/m.exec(`${made.stdout}\n${made.stderr}`)?.[1] ?? '';
        expect(execFileSync('sh', ['-c', line], { encoding: 'utf8' })).toMatch(/^Taken as /);
        await assistant.until(
          () =>
            /(^|\n)(> )?hello\n/.test(assistant.stdout) ||
            boardReads.some((one) => one.includes('"hello"')),
        );
        expect(onTopics.join('\n')).not.toContain('Heard: let me in');
      },
      MINUTES,
    );

    test(
      'what is said on the serial line is relayed to a topic',
      async () => {
        board.write('tell mqtt-kitchen: the soil is dry\n');
        await until(() =>
          expect(onTopics).toContain(
            'kitchen/out {"content":"the soil is dry","chat_id":"kitchen"}',
          ),
        );
        await until(() => expect(boardReads.join('\n')).toContain('"Told."'));
      },
      MINUTES,
    );

    test(
      'a burst is stored in order, once each, where the assistant is killed in the middle of it',
      async () => {
        const stored = () => {
          const database = new Database(clone.path('data/claw.db'), { readonly: true });
          try {
            return database
              .prepare("SELECT text FROM messages WHERE text LIKE 'burst %' ORDER BY seq")
              .pluck()
              .all();
          } finally {
            database.close();
          }
        };
        const texts = Array.from({ length: BURST }, (_, at) => `burst ${at}`);
        const sender = start('mosquitto_pub', ...client('kitchen/in'), '-l');
        const began = performance.now();
        for (const content of texts) {
          sender.stdin.write(`${JSON.stringify({ content, sender_id: 'esp32' })}\n`);
        }
        sender.stdin.end();
        await until(() => expect(stored().length).toBeGreaterThan(20));
        await assistant.kill();
        expect(stored().length).toBeLessThan(BURST);
        await until(() => expect(onTopics).toContain('patchclaw/status offline'));
        assistant = await Assistant.start(clone);
        await until(() => expect(stored()).toHaveLength(BURST));
        expect(stored()).toEqual(texts);
        console.info(
          `mqtt: ${BURST} messages, killed in between, in ${Math.round(performance.now() - began)} ms`,
        );
        publish('kitchen/in', { content: 'the end', sender_id: 'esp32' });
        await until(() => expect(onTopics.join('\n')).toContain('the end'));
        const answers = onTopics.filter((line) => line.startsWith('kitchen/out'));
        expect(new Set(answers).size).toBe(answers.length);
      },
      MINUTES,
    );
  },
);
