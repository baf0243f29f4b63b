import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openLinkDatabase } from '../../channels/whatsapp/session/link-database.ts';
import { openLoopback } from '../../http/loopback.ts';
import { openStore } from '../../store/store.ts';
import { examinedProject, HOLD_LOCK, REPOSITORY } from '../../testing/claw/examined-project.ts';

const project = examinedProject();

test('for a link in use, the doctor reads the log of the running assistant', async () => {
  const linkDatabase = openLinkDatabase(project.data, () => 0);
  const lock = resolve(import.meta.dirname, '../../supervisor/instance-lock.ts');
  const script = `import { lockInstance } from ${JSON.stringify(lock)};
    const lock = lockInstance(${JSON.stringify(project.data)}, process.pid);
    console.log(lock.kind);
    setInterval(() => lock.kind, 1000);`;
  writeFileSync(join(project.folder, 'holder.ts'), script);
  const holder = spawn(process.execPath, [join(project.folder, 'holder.ts')]);
  onTestFinished(() => void holder.kill('SIGKILL'));
  await once(holder.stdout, 'data');
  const say = (state: string, detail: string | null) => {
    const line = JSON.stringify({
      level: 30,
      time: 1,
      channel: 'whatsapp',
      state,
      detail,
      msg: '',
    });
    mkdirSync(join(project.data, 'logs'), { recursive: true, mode: 0o700 });
    writeFileSync(join(project.data, 'logs/assistant-2026-11-21.log'), `${line}\n{"half`, {
      mode: 0o600,
    });
  };
  expect(await project.found('assistant')).toMatchObject([
    { message: `runs, process ${holder.pid}` },
  ]);
  say('connected', null);
  expect(await project.found('whatsapp')).toMatchObject([
    { ok: true, advice: null, message: expect.stringMatching(/^paired, connected since 1970/) },
  ]);
  say('unpaired', 'The phone has removed this device.');
  expect(await project.found('whatsapp')).toMatchObject([
    { ok: false, message: expect.stringMatching(/^paired, but unpaired since .* removed/) },
  ]);
  linkDatabase.close();
});

test('the link to WhatsApp: not there, paired, in use, removed', async () => {
  const said = async () => (await project.found('whatsapp'))[0];
  expect(await said()).toMatchObject({ ok: true, message: expect.stringContaining('not paired') });
  const linkDatabase = openLinkDatabase(project.data, () => 0);
  const json = JSON.stringify({ account: {}, me: { id: '491511234567:3@s.whatsapp.net' } });
  linkDatabase.database.prepare('INSERT INTO credentials (id, json) VALUES (1, ?)').run(json);
  expect(await said()).toMatchObject({ ok: true, message: 'paired' });
  linkDatabase.database.exec('UPDATE credentials SET is_removed = 1');
  linkDatabase.close();
  expect(await said()).toMatchObject({
    ok: false,
    advice: '`npx claw setup whatsapp` pairs it again.',
  });
  const again = openLinkDatabase(project.data, () => 0);
  again.database.exec('UPDATE credentials SET is_removed = 0');
  again.close();
  expect(await said()).toMatchObject({ ok: true, message: 'paired with +491511234567' });
});

test('a service that failed is named, and the way to the pages, while the assistant runs', async () => {
  const store = openStore({ path: join(project.data, 'claw.db'), now: 1 });
  onTestFinished(() => store.close());
  store.services.note({ name: 'hook', state: 'failed', reason: 'no luck', since: 1 });
  expect(await project.found('services')).toEqual([]);
  const setTimer = () => () => {};
  const http = openLoopback({
    dataDir: project.data,
    setTimer,
    now: Date.now,
    log: { info() {}, error() {} },
  });
  await http.route('hook', { method: 'GET', path: '/', handle: () => ({}) });
  expect(await project.found('http')).toEqual([]);
  const holder = spawn(process.execPath, ['-e', HOLD_LOCK, REPOSITORY, project.data]);
  onTestFinished(() => void holder.kill());
  await once(holder.stdout, 'data');
  expect(await project.found('services')).toMatchObject([
    { ok: false, message: expect.stringMatching(/^hook failed at 1970-.*: no luck$/) },
  ]);
  const advice = expect.stringContaining(
    `${http.address()}/?token= and then what is in ${project.data}`,
  );
  expect(await project.found('http')).toMatchObject([{ ok: true, advice }]);
  await http.close();
  // The file still says where it was.
  expect(await project.found('http')).toEqual([]);
});
