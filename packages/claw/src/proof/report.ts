import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ProofFailure, ProofInput } from './proof.ts';
import { addedErrors, failingTests, failureText } from './test-selection/failing-tests.ts';
import type { TrialRun } from './trial.ts';

const REPORTED_LINES = 40;

/**
 * Returns the warning about failures that the present tree has too, with the reason as in a refusal: the failing
 * tests and the beginning of their errors.
 */
export function failsAsBefore(
  { root, logFolder = null }: ProofInput,
  name: string,
  { output }: TrialRun,
): string {
  const log = logFolder === null ? null : writeLog(root, logFolder, name, output);
  const lines = [
    `${name} fails, as it does without this change:`,
    failureText(output),
    ...(log === null ? [] : [`All of it: ${log}`]),
  ];
  return lines.filter((line) => line !== '').join('\n');
}

/**
 * Returns a failure with what is shown of it, its whole output written where logs are kept.
 *
 * @param before the same command in the present tree: errors that it names there are not shown
 */
export function failureOf(
  { root, logFolder = null }: ProofInput,
  subject: Pick<ProofFailure, 'kind' | 'name'>,
  { output, stop }: TrialRun,
  before: TrialRun | null = null,
): ProofFailure {
  const tests = failingTests(output);
  const added = before === null || tests.length > 0 ? [] : addedErrors(output, before.output);
  return {
    ...subject,
    text: [stop?.text ?? '', failureText(added.length > 0 ? added.join('\n') : output)]
      .filter((line) => line !== '')
      .join('\n'),
    tests,
    stop: stop?.limit ?? null,
    output: output.split('\n').slice(-REPORTED_LINES).join('\n'),
    log: logFolder === null ? null : writeLog(root, logFolder, subject.name, output),
  };
}

/**
 * Writes what a command printed where the owner can read it.
 *
 * @returns its path, relative to the root or absolute as the folder is; null where it cannot be written
 */
function writeLog(root: string, folder: string, name: string, output: string): string | null {
  const plain = name
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  const path = `${folder}/${plain || 'output'}.log`;
  try {
    mkdirSync(resolve(root, folder), { recursive: true });
    writeFileSync(resolve(root, path), `${output}\n`);
    return path;
  } catch {
    return null; // A full disk is no reason to hide what failed: its beginning is shown anyway.
  }
}
