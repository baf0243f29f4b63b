import { statSync } from 'node:fs';
import { type Hook, hooksFile, readHooks, readServerAddress } from '../lib/webhook/hook.ts';
import { isRunning } from '../supervisor/instance-lock.ts';
import { type Examination, type Finding, ok, problem } from './examination.ts';

const AREA = 'webhook';
const SET_UP = '`npx claw setup webhook` makes one.';

/** The webhooks: whether their list can be read, by its owner alone, and whether their address answers. */
export const examination: Examination = {
  area: AREA,
  order: 78,
  async examine({ dataDir, isOffline }) {
    const read = readHooks(dataDir);
    if (!read.ok) {
      return [problem(AREA, read.problem, 'Mend the file, or remove it and make the hooks anew.')];
    }
    if (read.hooks.length === 0) return [ok(AREA, 'no hooks yet', SET_UP)];
    const names = read.hooks.map(({ name, does, group }) => `${name} (${does} in ${group})`);
    return [
      ok(AREA, names.join(', ')),
      ...openSecrets(hooksFile(dataDir)),
      ...(isOffline || !isRunning(dataDir) ? [] : await answerOf(dataDir, read.hooks)),
    ];
  },
};

function openSecrets(path: string): readonly Finding[] {
  const isOpen = (statSync(path).mode & 0o077) !== 0;
  const advice = `Say \`chmod 600 ${path}\`.`;
  return isOpen
    ? [problem(AREA, `others on this machine can read the secrets in ${path}`, advice)]
    : [];
}

/** Calls a hook without its secret, which it has to refuse. */
async function answerOf(dataDir: string, hooks: readonly Hook[]): Promise<readonly Finding[]> {
  const address = readServerAddress(dataDir);
  const [hook] = hooks;
  if (address === null || hook === undefined) return [];
  const url = `${address}/hooks/${hook.name}`;
  const signal = AbortSignal.timeout(10_000);
  const status = await fetch(url, { method: 'POST', body: '{}', signal }).then(
    (response) => response.status,
    () => null,
  );
  return status === 401
    ? [
        ok(
          AREA,
          `they are called at ${address}/hooks/<name>, from this machine or through a tunnel`,
        ),
      ]
    : [
        problem(
          AREA,
          `${url} does not answer as it should`,
          '`npx claw status` shows the service hooks.',
        ),
      ];
}
