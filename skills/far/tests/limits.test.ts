import { connect as dial } from 'node:net';
import { createInterface } from 'node:readline';
import { connect as secure } from 'node:tls';
import { fromSeed } from '@nats-io/nkeys';
import { connect, nkeyAuthenticator } from '@nats-io/transport-node';
import { expect, test, vi } from 'vitest';
import { readWorkerConfig } from '../../../src/lib/far/worker-folder.ts';
import { subjects } from '../../../src/sandbox/machines/far/messages.ts';
import { describeWithEngine } from '../../../src/testing/engine.ts';
import { type FarHome, type FarWorkerProcess, farHome, OFTEN } from './far-home.ts';

const MAX_PAYLOAD = 1_048_576;

await describeWithEngine('bubblewrap', 'limits of the server', () => {
  test('a message over the limit ends the connection that sent it and no other; one of the limit passes', async () => {
    await using home = await farHome();
    await using nas = await home.join('nas');
    await home.project.answer('hello');
    const fits = await rawSession(home, nas, MAX_PAYLOAD);
    expect(fits.at(-1)).toBe('PONG');
    const said = await rawSession(home, nas, MAX_PAYLOAD + 1);
    expect(said.at(-1)).toBe("-ERR 'Maximum Payload Violation'");
    // Neither is presence, and the worker itself is another connection.
    expect(home.stateOf('nas')).toBe('here');
    expect(await home.project.answer('still here')).toBe('You said: still here');
    expect(home.trouble).toEqual([]);
  });

  test('no message of an honest link comes near the limit, whatever the agent writes', async () => {
    await using home = await farHome();
    await using nas = await home.join('nas');
    const config = readWorkerConfig(nas.dataDir);
    const watch = await connect({
      servers: `127.0.0.1:${home.port}`,
      tls: { ca: home.state.certificate() },
      authenticator: nkeyAuthenticator(new TextEncoder().encode(home.state.read().homeSeed)),
    });
    expect(config?.name).toBe('nas');
    let largest = 0;
    watch.subscribe('far.*.nas.>', {
      callback: (_, { data }) => {
        largest = Math.max(largest, data.length);
      },
    });
    await watch.flush();
    await home.project.answer(
      'shell: head -c 9000000 /dev/urandom > large; head -c 9000000 large | base64',
    );
    await watch.flush();
    expect(largest).toBeGreaterThan(100_000);
    expect(largest).toBeLessThan(MAX_PAYLOAD / 4);
    await watch.close();
  });

  test('a connection has so many subscriptions and no more', async () => {
    await using home = await farHome();
    await using nas = await home.join('nas');
    const config = readWorkerConfig(nas.dataDir);
    const eve = await connect({
      servers: `127.0.0.1:${home.port}`,
      tls: { ca: home.state.certificate() },
      authenticator: nkeyAuthenticator(new TextEncoder().encode(config?.seed)),
      reconnect: false,
    });
    const problems: string[] = [];
    void (async () => {
      for await (const status of eve.status())
        problems.push(JSON.stringify(status), `${Object.values(status)}`);
    })();
    for (let count = 0; count < 150; count += 1) {
      eve.subscribe(`far.down.nas.${count}`, { callback: () => {} });
    }
    await vi.waitFor(() => expect(problems.join()).toMatch(/maximum subscriptions/i), OFTEN);
    expect(await home.project.answer('still here')).toBe('You said: still here');
    await eve.close();
  });
});

/** Speaks the protocol by hand, since the client refuses to send so much. Returns what the server says. */
async function rawSession(
  home: FarHome,
  worker: FarWorkerProcess,
  sizeBytes: number,
): Promise<readonly string[]> {
  const config = readWorkerConfig(worker.dataDir);
  if (config === null) throw new Error('it has not joined');
  const socket = dial(home.port, '127.0.0.1');
  const info = await new Promise<string>((resolve) => {
    socket.once('data', (chunk) => resolve(chunk.toString()));
  });
  const { nonce, max_payload } = JSON.parse(info.slice('INFO '.length));
  expect(max_payload).toBe(MAX_PAYLOAD);
  const key = fromSeed(new TextEncoder().encode(config.seed));
  const sig = Buffer.from(key.sign(Buffer.from(nonce))).toString('base64url');
  const line = secure({
    socket,
    ca: home.state.certificate(),
    checkServerIdentity: () => undefined,
  });
  const words = { verbose: false, protocol: 1, tls_required: true, lang: 'hand', version: '1' };
  line.on('error', () => {});
  line.write(`CONNECT ${JSON.stringify({ ...words, nkey: key.getPublicKey(), sig })}\r\n`);
  line.write(`PUB ${subjects.up('nas', 'family', 1)} ${sizeBytes}\r\n`);
  line.write(Buffer.alloc(sizeBytes));
  line.write('\r\nPING\r\n');
  const said: string[] = [];
  for await (const text of createInterface({ input: line })) {
    if (!text.startsWith('INFO') && text !== 'PING') said.push(text);
    if (text === 'PONG') break;
  }
  line.destroy();
  return said;
}
