import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ActivityWatchdog } from '../../lib/activity-watchdog.ts';
import type { ModelFailure } from '../../model/failure.ts';
import type { CutPrompt, PaidCall, PayingTurn } from '../../model/metering/paying-turn.ts';
import type { Model } from '../../model/model.ts';
import type { Admission, TokenCounts } from '../../model/tokens.ts';
import { openGroupServer } from '../../sandbox/protocol/group-server.ts';
import { testModel } from './test-model.ts';

/** The key that the proxy adds, which no agent on its socket ever sees. */
export const KEY = 'sk-real-key-4f2b9c81d07e';

export type TestProxyParts = {
  /** No turn runs. */
  readonly isIdle?: boolean;
  readonly provider?: 'anthropic' | 'openai';
  /** Models that are asked where the first gives no answer. */
  readonly next?: readonly Model[];
  readonly timeoutMs?: number;
  /** Tells how long a call takes. */
  readonly now?: () => number;
  readonly admit?: (call: PaidCall, signal: AbortSignal) => Promise<Admission>;
};

/** Opens a group's socket in front of a model's server, with the test in place of agent and turn. */
export async function openProxy(baseUrl: string, parts: TestProxyParts = {}) {
  const { isIdle = false, provider = 'anthropic', next = [] } = parts;
  const socketDir = await mkdtemp(join(tmpdir(), 'claw-proxy-'));
  await chmod(socketDir, 0o700);
  const charges: (TokenCounts | null)[] = [];
  const failures: (ModelFailure | null)[] = [];
  const over = new AbortController();
  const charge = (counts: TokenCounts | null) => void charges.push(counts);
  const passedOver: string[] = [];
  const cuts: CutPrompt[] = [];
  const turn: PayingTurn = {
    models: [testModel({ provider, baseUrl, key: KEY }), ...next],
    signal: over.signal,
    silence: new ActivityWatchdog(),
    admit: parts.admit ?? (async () => ({ kind: 'admitted', charge }) as const),
    onModel: (failure) => void failures.push(failure),
    onPromptCut: (_model, cut) => void cuts.push(cut),
    onPassedOver: ({ id }, { message }) => void passedOver.push(`${id}: ${message}`),
  };
  const server = await openGroupServer({
    socketDir,
    user: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
    proxy: { timeoutMs: parts.timeoutMs ?? 60_000, now: parts.now },
    currentTurn: () => (isIdle ? null : turn),
    onAgent: () => {},
  });
  const socketPath = join(socketDir, 'host.sock');
  return {
    /** The charges of calls that cost something. */
    get charged() {
      return charges.filter((counts) => counts !== null);
    },
    /** The charge of each admitted call; null for one that cost nothing. */
    charges,
    failures,
    passedOver,
    /** Prompts of which the server counted a part only. */
    cuts,
    endTurn: () => over.abort(),
    post: (path: string, body: string, headers = {}, method = 'POST') =>
      post({ socketPath, path, method, headers }, body),
    /** Asks, and goes away with the first bytes of the answer, or when `leave` resolves. */
    abandon: (path: string, body: string, leave: Promise<void> | null = null) =>
      abandon({ socketPath, path, method: 'POST' }, body, leave),
    upgrade: (protocol: string) => upgradeStatus(socketPath, protocol),
    async [Symbol.asyncDispose]() {
      await server.close();
      await rm(socketDir, { recursive: true, force: true });
    },
  };
}

function post(options: object, body: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(options, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      );
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

/** Asks, and goes away when 4 KB of the answer have come, or when `leave` says so. */
function abandon(options: object, body: string, leave: Promise<void> | null): Promise<void> {
  return new Promise((resolve) => {
    let comeBytes = 0;
    const asked = request(options, (answer) =>
      answer.on('data', (chunk: Buffer) => {
        comeBytes += chunk.length;
        if (comeBytes >= 4_096) asked.destroy();
      }),
    );
    asked.on('error', () => resolve());
    asked.on('close', () => resolve());
    asked.end(body);
    void leave?.then(() => asked.destroy());
  });
}

function upgradeStatus(socketPath: string, protocol: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { connection: 'Upgrade', upgrade: protocol };
    const asked = request({ socketPath, path: '/frames', headers });
    asked.on('upgrade', (answer) => resolve(answer.statusCode ?? 0));
    asked.on('response', (answer) => resolve(answer.statusCode ?? 0));
    asked.on('error', reject);
    asked.end();
  });
}
