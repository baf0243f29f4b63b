import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLAW, type Files, openCodebase } from '../src/testing/claw/codebase.ts';

/** The start of a transcript: files below a folder of its own, and a shell script run in `project/`. */
export type Fixture = { readonly files: Files; readonly setup: string };

/** One ```console block of a page. */
export type Transcript = {
  /** Of the comment right above it; null continues in the codebase of the block before. */
  readonly fixture: string | null;
  readonly body: string;
  readonly from: number;
  readonly to: number;
};

const BLOCK = /(?:<!-- fixture: (\S+) -->\n)?```console\n(.*?)^```$/gms;

/** The transcripts of a page, in order; `from` and `to` are where the body stands in it. */
export function findTranscripts(page: string): readonly Transcript[] {
  return [...page.matchAll(BLOCK)].map((match) => {
    const [whole, fixture = null, body = ''] = match;
    const to = match.index + whole.length - '```'.length;
    return { fixture, body, from: to - body.length, to };
  });
}

/** A codebase that transcripts are run in, as somebody at a shell would. */
export type Session = Disposable & { readonly run: (transcript: string) => string };

/** Lays a fixture out; `claw` is on the path there, git's names and times are fixed. */
export function openSession({ files, setup }: Fixture): Session {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'claw-docs-')));
  const bin = join(root, '.bin');
  const project = join(root, 'project');
  mkdirSync(bin);
  mkdirSync(project);
  openCodebase(root).write(files);
  writeFileSync(join(bin, 'claw'), `#!/bin/sh\nexec '${process.execPath}' '${CLAW}' "$@"\n`);
  chmodSync(join(bin, 'claw'), 0o755);
  const shell = (script: string) => runShell(project, { script, bin });
  const prepared = shell(`set -e\n${setup}`);
  if (prepared.status !== 0) throw new Error(`the fixture's setup failed:\n${prepared.output}`);
  return {
    run: (transcript) =>
      commandsOf(transcript)
        .map(({ shown, script }) => shown + normalised(shell(script).output, root))
        .join(''),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

type CommandLine = { readonly shown: string; readonly script: string };

/** `$ ` begins a command, `> ` right below it goes on with it; the rest is output. */
function commandsOf(transcript: string): readonly CommandLine[] {
  const commands = transcript.match(/^\$ .*\n(?:> ?.*\n)*/gm) ?? [];
  return commands.map((shown) => ({ shown, script: shown.replace(/^[$>] ?/gm, '') }));
}

function runShell(cwd: string, { script, bin }: { script: string; bin: string }) {
  const who = { NAME: 'You', EMAIL: 'you@example.org', DATE: '2026-11-01T12:00:00Z' };
  const names = ['AUTHOR', 'COMMITTER'].flatMap((role) =>
    Object.entries(who).map(([part, value]) => [`GIT_${role}_${part}`, value] as const),
  );
  // One stream for both, as on a screen.
  const run = spawnSync('sh', ['-c', `exec 2>&1\n${script}`], {
    cwd,
    encoding: 'utf8',
    env: {
      PATH: `${bin}:${join(process.execPath, '..')}:${process.env['PATH']}`,
      HOME: cwd,
      // Apart from what other tests look for in the one they share.
      TMPDIR: bin,
      LC_ALL: 'C.UTF-8',
      GIT_CONFIG_GLOBAL: '/dev/null',
      ...Object.fromEntries(names),
    },
  });
  return { status: run.status, output: run.stdout };
}

/** Replaces text that differs at every run by `…`: times, whole digests and commit ids, the folder. */
function normalised(output: string, root: string): string {
  return (
    output
      .replaceAll(root, '…')
      // How far fetching is, which only a slow one tells.
      .replace(/^git: .* \d+ %\n/gm, '')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '…')
      .replace(/\d{4}-\d\d-\d\d \d\d:\d\d UTC|\b\d{8}T\d{6}Z/g, '…')
      .replace(/(?<=--strategy ours )[0-9a-f]{12}\b/g, '…')
      .replace(/\b(sha256:)?[0-9a-f]{40,64}\b/g, (_, prefix = '') => `${prefix}…`)
  );
}
