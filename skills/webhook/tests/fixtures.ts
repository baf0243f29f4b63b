import { createHmac } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { addHook } from '../../../src/lib/webhook/edit.ts';
import { type Hook, hooksFile } from '../../../src/lib/webhook/hook.ts';
import {
  type AgentScript,
  answers,
  type TestAssistant,
  TestProject,
} from '../../../src/testing/assistant.ts';

// What the skill brings is reached through here: the files are there once it is applied.
export { examination } from '../../../src/doctor/webhook.ts';
export { prove, TOLERANCE_MS } from '../../../src/lib/webhook/proof.ts';
export { describeGitHub } from '../../../src/services/hooks/github.ts';
export { messageOf, promptOf } from '../../../src/services/hooks/words.ts';
export { setup } from '../../../src/setup/webhook.ts';
export { addHook, type Hook, hooksFile };

export const SECRET = 'a-secret-of-more-than-sixteen-letters';
const SIGNED = `whsec_${Buffer.from(SECRET).toString('base64')}`;

/** Makes a hook with a known secret. */
export function hookOf(over: Partial<Hook> = {}): Hook {
  const from = over.from ?? 'token';
  const secret = from === 'signed' ? SIGNED : SECRET;
  return { name: 'door', group: 'main', from, does: 'turn', text: null, secret, ...over };
}

/** Headers of a delivery as its sender signs it. */
export function headersOf(
  { from, secret }: Hook,
  body: string | Buffer,
  { id = 'd-1', event = 'issues', at = Date.now() } = {},
): Record<string, string> {
  const type = { 'content-type': 'application/json' };
  switch (from) {
    case 'token':
      return { ...type, authorization: `Bearer ${secret}`, 'idempotency-key': id };
    case 'github': {
      const sum = createHmac('sha256', secret).update(body).digest('hex');
      const named = { 'x-github-event': event, 'x-github-delivery': id };
      return { ...type, ...named, 'x-hub-signature-256': `sha256=${sum}` };
    }
    case 'signed': {
      const seconds = String(Math.floor(at / 1_000));
      const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
      const sum = createHmac('sha256', key)
        .update(`${id}.${seconds}.`)
        .update(body)
        .digest('base64');
      const named = { 'webhook-id': id, 'webhook-timestamp': seconds };
      return { ...type, ...named, 'webhook-signature': `v1,${sum}` };
    }
  }
}

/** A running assistant with hooks. */
export class HookedAssistant {
  readonly prompts: string[] = [];
  readonly log: { message: string; data: unknown }[] = [];
  readonly project: TestProject;
  #assistant: TestAssistant | null = null;
  #agent: AgentScript = async () => answers('The door rang.');

  constructor(hooks: readonly Hook[], agent?: AgentScript) {
    this.project = new TestProject();
    for (const hook of hooks) addHook(this.dataDir, hook);
    if (agent !== undefined) this.#agent = agent;
  }

  get dataDir(): string {
    return join(this.project.dir, 'data');
  }

  get assistant(): TestAssistant {
    if (this.#assistant === null) throw new Error('It is not started.');
    return this.#assistant;
  }

  async start(): Promise<this> {
    const write = (message: string, data?: unknown) => void this.log.push({ message, data });
    const agent: AgentScript = (request, events) => {
      this.prompts.push(request.prompt);
      return this.#agent(request, events);
    };
    const over = { log: { info() {}, warn: write, error: write } };
    this.#assistant = await this.project.start({ agent, over });
    const address = join(this.dataDir, 'http/address');
    await vi.waitFor(async () => {
      expect(existsSync(address)).toBe(true);
      // The address of an earlier run is there before the service is.
      expect((await this.post('nothing-there', '', {})).status).toBe(404);
    });
    return this;
  }

  url(name: string): string {
    return `${readFileSync(join(this.dataDir, 'http/address'), 'utf8').trim()}/hooks/${name}`;
  }

  async post(
    name: string,
    body: string | Buffer,
    headers: Readonly<Record<string, string>>,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const response = await fetch(this.url(name), {
      method: 'POST',
      body: new Uint8Array(Buffer.from(body)),
      headers,
    });
    return { status: response.status, text: await response.text() };
  }

  async stop(): Promise<void> {
    await this.#assistant?.stop();
    this.#assistant = null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this.project[Symbol.dispose]();
  }
}
