import { ClawError } from '../../errors.ts';

// Keys that NanoClaw's manifests have beyond ours, and that change nothing.
const DOCUMENTATION_KEYS = ['author', 'license', 'min_skills_system_version', 'tested_with'];

const TEST_RUNNERS = [
  ['npx', 'vitest', 'run'],
  ['npx', 'vitest'],
  ['vitest', 'run'],
  ['vitest'],
  ['node', '--test'],
];

/**
 * Translates the keys of NanoClaw's manifests into ours, before the schema sees them. Documenting keys are
 * left out, and a test command that names files becomes the list of these files.
 *
 * @throws ClawError SCHEMA_INVALID for `post_apply` and for any other command, which would run code that no
 *   test and no plan can show
 */
export function translateNanoClaw(raw: unknown): unknown {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return raw;
  const entries = Object.entries(raw).filter(([key]) => !DOCUMENTATION_KEYS.includes(key));
  if (entries.some(([key]) => key === 'post_apply')) {
    throw refusal(
      'post_apply',
      'commands after applying are not run: declare packages, settings and services under ' +
        '`structured`, and put anything else into SKILL.md as a step for the owner',
    );
  }
  return Object.fromEntries(
    entries.map(([key, value]) =>
      key === 'test' && typeof value === 'string' ? [key, testFiles(value)] : [key, value],
    ),
  );
}

function testFiles(command: string): readonly string[] {
  const words = command.trim().split(/\s+/);
  const runner = TEST_RUNNERS.find((prefix) => prefix.every((word, at) => words[at] === word));
  const files = words.slice(runner?.length ?? 0);
  const isPlain = files.length > 0 && files.every((word) => /^[\w@.][\w@./+-]*$/.test(word));
  if (runner === undefined || !isPlain) {
    throw refusal(
      'test',
      `the command \`${command}\` is not run: list the test files instead, as in ` +
        '`test: [tests/demo.test.ts]`; they are handed to the codebase’s own test command',
    );
  }
  return files.map((file) => file.replace(/^\.\//, ''));
}

function refusal(key: string, reason: string): ClawError {
  const path = `manifest.yaml:${key}`;
  return new ClawError('SCHEMA_INVALID', `${path}: ${reason}.`, { path });
}
