import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, vi } from 'vitest';
import { type TestAssistant, type TestProject, textsOf } from '../assistant.ts';
import { type Files, skillFiles } from '../claw/codebase.ts';
import { type AnthropicReply, lastUserText, startAnthropicServer } from '../model/anthropic.ts';

const WAIT_MS = 150_000;

/** Says something as the owner, and waits until the chat is told something that holds `part`. */
export async function ask(assistant: TestAssistant, text: string, part: string): Promise<string> {
  const { terminal } = assistant;
  const before = terminal.sent.length;
  await terminal.say(text);
  return await hears(assistant, part, before);
}

/** Waits for a text, from the given number of messages on; what was said since then. */
export async function hears({ terminal }: TestAssistant, part: string, from = 0): Promise<string> {
  const said = () => textsOf(terminal).slice(from).join('\n\n');
  await vi.waitFor(() => expect(said()).toContain(part), WAIT_MS);
  return said();
}

/** Waits until an assistant asks for a restart, and stops it as the supervisor does. */
export async function stopsForRestart(
  project: TestProject,
  assistant: TestAssistant,
): Promise<void> {
  await vi.waitFor(() => expect(project.restarts).toBe(1), WAIT_MS);
  project.restarts = 0;
  await assistant.stop();
}

/** Skills as files under `skills/` of a project. */
export function skills(
  given: Readonly<Record<string, Parameters<typeof skillFiles>[1]>>,
): Record<string, string> {
  const entries = Object.entries(given).flatMap(([name, parts]) =>
    Object.entries(skillFiles(name, { core: '1.0.0', ...parts })).map(
      ([path, content]) => [`skills/${name}/${path}`, String(content)] as const,
    ),
  );
  return Object.fromEntries(entries);
}

/** Writes files into a project. */
export function write({ dir }: TestProject, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), String(content));
  }
}

export function read({ dir }: TestProject, path: string): string {
  return readFileSync(join(dir, path), 'utf8');
}

export function git(dir: string, ...args: string[]): string {
  const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org'];
  // Each commit would start a process that looks whether the repository needs tidying.
  const untidied = ['-c', 'maintenance.auto=false'];
  return execFileSync('git', [...who, ...untidied, ...args], { cwd: dir, encoding: 'utf8' });
}

/** Starts a model that answers each question by a script; its settings are for an assistant's environment. */
export async function startModel(script: (question: string) => AnthropicReply | object) {
  const server = await startAnthropicServer((request) => {
    const said = script(lastUserText(request));
    if (Array.isArray(said) || 'kind' in said) return said as AnthropicReply;
    return [{ type: 'text', text: JSON.stringify(said) }];
  });
  return {
    requests: server.requests,
    environment: { ANTHROPIC_BASE_URL: server.url, MODEL: 'anthropic/claude-test' },
    [Symbol.asyncDispose]: () => server.close(),
  };
}
