import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createUser } from '@nats-io/nkeys';
import { expect, test, vi } from 'vitest';
import { command } from '../../../src/commands/far.ts';
import { FarState } from '../../../src/lib/far/far-state.ts';
import { joinCode } from '../../../src/lib/far/join-code.ts';
import { answers, TestProject, testSandbox, textsOf } from '../../../src/testing/assistant.ts';

test('the owner is told what to do first, gets a code, and takes a machine out again', async () => {
  using project = new TestProject();
  const state = new FarState(join(project.dir, 'data'));
  const drained: [string, boolean][] = [];
  let problems = ['The server that machines dial does not answer.'];
  const machine = { description: 'docker 20.10', abilities: ['gpu'], capacity: 2, running: 1 };
  const sandbox = {
    ...testSandbox(async () => answers('pong')),
    machines: {
      list: () => [{ name: 'nas', state: 'here' as const, ...machine }],
      drain: (name: string, isDraining: boolean) => {
        drained.push([name, isDraining]);
        return name === 'nas';
      },
      problems: () => problems,
    },
  };
  const open = async () => ({ kind: 'ready' as const, sandbox });
  const lazy = { open, stop: async () => {}, warm: () => 0, close: async () => {} };
  const opened = command.open(
    {},
    {
      openDatabase: () => {
        throw new Error('none');
      },
    },
  );
  if (opened.kind !== 'made' || opened.value === null) throw new Error('no command');
  const assistant = await project.start({ over: { sandbox: lazy, commands: [opened.value] } });
  const say = async (text: string) => {
    const before = textsOf(assistant.terminal).length;
    await assistant.terminal.say(text);
    await vi.waitFor(() => expect(textsOf(assistant.terminal).length).toBe(before + 1));
    return textsOf(assistant.terminal).at(-1) ?? '';
  };
  expect(await say('/far')).toContain('npx claw far setup');
  expect(await say('/far add nas')).toContain('npx claw far setup');
  await state.setUp('192.168.1.10', 4_722);
  // A code that nobody could use now is not made.
  expect(await say('/far add nas')).toBe('The server that machines dial does not answer.');
  expect(state.read().pending).toEqual([]);
  expect(await say('/far')).toContain('does not answer');
  problems = [];
  const added = await say('/far add nas');
  expect(await say('/far')).toContain('**nas**: has not joined yet, its code is good for 15 min');
  const code = joinCode.read(/join (\S+)/.exec(added)?.[1] ?? '');
  expect(code).toMatchObject({ name: 'nas', host: '192.168.1.10', port: 4_722 });
  expect(code?.certificate).toBe(state.certificate());
  expect(state.enrol('nas', createUser().getPublicKey(), Date.now())).toBe(true);
  expect(await say('/far add nas')).toContain('has joined already');
  expect(await say('/far add NAS!')).toContain('small letters');
  // By a key, as `claw far add --ssh` says it: no code is made, and once more changes nothing.
  const desk = createUser().getPublicKey();
  for (const _ of ['once', 'again']) {
    expect(await say(`/far add desk ${desk}`)).toBe('desk may join with its own key.');
    expect(state.read().machines.map(({ name }) => name)).toEqual(['nas', 'desk']);
  }
  expect(await say(`/far add desk ${createUser().getPublicKey()}`)).toContain('has joined already');
  expect(await say(`/far add attic ${desk}`)).toContain('joined already, as desk');
  expect(await say('/far add attic key')).toBe('That is no key of a machine.');
  expect(await say('/far sandbox desk Bubblewrap')).toContain('runs agents in bubblewrap');
  expect(state.read().machines[1]?.mayUse).toBe('bubblewrap');
  expect(await say('/far sandbox attic bubblewrap')).toContain('No machine is called attic');
  expect(await say('/far remove desk')).toContain('desk is out');
  expect(await say('/far main on nas')).toContain('runs on nas, from its next message on');
  expect(assistant.store.places.of('main')).toEqual({ machine: 'nas', needs: [] });
  expect(await say('/far')).toMatch(
    /\*\*nas\*\*: here, docker 20.10, 1 of 2 chats, has gpu[\s\S]*on nas/,
  );
  expect(await say('/far main on attic')).toContain('No machine is called attic');
  expect(await say('/far work on nas')).toContain('No chat is called “work”');
  await say('/far main needs GPU, ffmpeg');
  expect(assistant.store.places.of('main')).toEqual({ machine: null, needs: ['gpu', 'ffmpeg'] });
  await say('/far main home');
  expect(assistant.store.places.of('main')).toEqual({ machine: null, needs: [] });
  expect(await say('/far drain nas')).toContain('takes no new chat');
  expect(await say('/far undrain attic')).toContain('No machine is called attic');
  expect(drained).toEqual([
    ['nas', true],
    ['attic', false],
  ]);
  expect(await say('/far remove nas')).toContain('nas is out');
  expect(state.read().machines).toEqual([]);
  expect(await say('/far nonsense')).toContain('/far family on nas');
  await assistant.stop();
});

test('a code is void when it is too old or used, and so is a key that is none', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'claw-far-state-'));
  try {
    const state = new FarState(dir);
    await state.setUp('nas.home', 4_722);
    const key = createUser().getPublicKey();
    state.add('nas', 0);
    expect(state.enrol('nas', key, 16 * 60_000)).toBe(false);
    expect(state.enrol('tower', key, 0)).toBe(false);
    const wrong = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`;
    expect(state.enrol('nas', wrong, 0)).toBe(false);
    expect(state.enrol('nas', '", permissions: {} }', 0)).toBe(false);
    expect(state.enrol('nas', key, 0)).toBe(true);
    expect(state.enrol('nas', createUser().getPublicKey(), 0)).toBe(false);
    // Set up again, such as with another address: who has joined stays.
    await state.setUp('nas.lan', 4_722);
    expect(state.read().machines).toEqual([
      { name: 'nas', key, isDraining: false, cutOff: null, mayUse: null },
    ]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

test('the server’s file lets a machine use its own subjects, and a code enrol, and nothing is readable by others', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'claw-far-state-'));
  try {
    const state = new FarState(dir);
    await state.setUp('192.168.1.10', 4_722);
    const key = createUser().getPublicKey();
    state.add('nas', 0);
    state.enrol('nas', key, 0);
    state.add('desk', 0);
    const text = readFileSync(state.configPath, 'utf8');
    const users = text.split('\n').filter((line) => line.includes('nkey:'));
    expect(users).toHaveLength(3);
    expect(users[1]).toContain(
      `nkey: ${key}, permissions: { publish: ["far.up.nas.>"], subscribe: ["far.down.nas.>"] }`,
    );
    expect(users[2]).toContain('publish: ["far.enrol.desk"], subscribe: ["far.enrolled.desk"]');
    // A public key may hold the letters by chance; a seed is as long as one.
    expect(text).not.toMatch(/\bSU[A-Z2-7]{56}/);
    for (const name of ['far.json', 'nats.conf', 'server.key', 'server.pem']) {
      expect(statSync(join(state.dir, name)).mode & 0o077, name).toBe(0);
    }
    expect(statSync(state.dir).mode & 0o077).toBe(0);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

test('a machine joins with no key that another one, a code or the home has: the server would take nobody out any more', async () => {
  using project = new TestProject();
  const state = new FarState(join(project.dir, 'data'));
  await state.setUp('127.0.0.1', 4_722);
  const keyOf = (code: string) => joinCode.publicKeyOf(joinCode.read(code)?.seed ?? '');
  const codes = { nas: state.add('nas', 0), evil: state.add('evil', 0) };
  const own = createUser().getPublicKey();
  expect(state.enrol('nas', own, 1)).toBe(true);
  const home = joinCode.publicKeyOf(state.read().homeSeed);
  for (const taken of [own, home, keyOf(codes.evil)]) {
    expect([taken, state.enrol('evil', taken, 1)]).toEqual([taken, false]);
  }
  // nats-server says `Duplicate nkey`, and reads nothing of such a file.
  const keys = readFileSync(state.configPath, 'utf8').match(/nkey: \w+/g) ?? [];
  expect([keys.length, new Set(keys).size]).toEqual([3, 3]);
  expect(state.enrol('evil', createUser().getPublicKey(), 1)).toBe(true);
});
