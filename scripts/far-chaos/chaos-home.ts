import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { freePort } from '../../src/testing/free-port.ts';
import { startAnthropicServer } from '../../src/testing/model/anthropic.ts';
import { type Clone, cloneWithoutProof, visitorsEnvironment } from '../../test/story/clone.ts';
import { chaosReply } from './chaos-model.ts';
import { launch, Service } from './chaos-processes.ts';
import { startTower, type Tower } from './raven-far-end.ts';

const RAVEN = '../../test/seams/packages/raven/add/src/channels/raven.ts';
const Answers = z.object({ data: z.object({ answers: z.unknown() }) });

/** The real assistant with the skill `far`. Its model and the far end of its chats are the run's. */
export type ChaosHome = {
  readonly clone: Clone;
  readonly tower: Tower;
  readonly assistant: Service;
  /** Where other machines dial. */
  readonly port: number;
  /** Asks for a code until the assistant is up. */
  joinCode(name: string): Promise<string>;
};

/** The network that the assistant runs in. */
export type HomeNetwork = {
  /** Returns the command that runs another one in it. */
  enter(command: readonly string[]): readonly string[];
  /** Makes a server of this process reachable from it, and returns the URL there. */
  reachable(url: string): Promise<string>;
};

/** The network of this process. */
const OWN_NETWORK: HomeNetwork = {
  enter: (command) => command,
  reachable: async (url) => url,
};

/**
 * Starts it.
 *
 * @param address under which other machines reach it
 * @param ends what the caller does at the end, the last one first
 */
export async function openChaosHome(
  address: string,
  ends: (() => unknown)[],
  more: Readonly<Record<string, string>> = {},
  { enter, reachable }: HomeNetwork = OWN_NETWORK,
): Promise<ChaosHome> {
  const clone = cloneWithoutProof();
  ends.push(() => clone[Symbol.asyncDispose]());
  const tower = await startTower();
  const model = await startAnthropicServer(chaosReply);
  ends.push(
    () => tower.close(),
    () => model.close(),
  );
  const { json } = await clone.claw('apply', 'far');
  if (json.error !== null) throw new Error(JSON.stringify(json.error));
  const settings = {
    ANTHROPIC_API_KEY: 'sk-ant-test-chaos',
    ANTHROPIC_BASE_URL: await reachable(model.url),
    CLAW_SANDBOX: 'bubblewrap',
    RAVEN_TOWER: await reachable(tower.url),
    RAVEN_TOKEN: 'a-token',
    RAVEN_ALLOW_FROM: 'ada',
    ...more,
  };
  clone.write({
    'src/channels/raven.ts': readFileSync(resolve(import.meta.dirname, RAVEN), 'utf8'),
    '.env': {
      text: Object.entries(settings)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
      mode: 0o600,
    },
  });
  const port = await freePort();
  const setUp = await clone.claw('far', 'setup', address, '--port', String(port));
  if (setUp.json.error !== null) throw new Error(JSON.stringify(setUp.json.error));
  const assistant = new Service('assistant', () =>
    launch(enter([clone.nodePath, 'src/supervisor/entry.js']), clone.root, visitorsEnvironment()),
  );
  ends.push(() => assistant.stop());
  return {
    clone,
    tower,
    assistant,
    port,
    async joinCode(name) {
      for (let tries = 0; ; tries += 1) {
        const added = await clone.claw('far', 'add', name);
        const { data } = Answers.safeParse(added.json);
        const [, code] =
          /\bjoin ([A-Za-z0-9_+/=.-]{40,})/.exec(JSON.stringify(data?.data.answers ?? '')) ?? [];
        if (code !== undefined) return code.replace(/\\n.*$/, '');
        if (tries > 60) throw new Error(`no code for ${name}: ${added.stdout}`);
        await delay(1_000);
      }
    },
  };
}
