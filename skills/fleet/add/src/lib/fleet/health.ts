import { visible } from '@patchclaw/claw/text';
import { z } from 'zod';
import { type Containers, type Ended, jsonOfInstance } from './containers.ts';
import type { Version } from './fleet-book.ts';

const Findings = z.object({
  data: z.object({
    findings: z
      .array(z.object({ area: z.string(), ok: z.boolean(), message: z.string() }))
      .max(1_000),
  }),
});
const Status = z.object({ data: z.object({ state: z.string() }) });

/** What the doctor of an instance finds wrong: sentences by area. */
export type Problems = ReadonlyMap<string, string>;

/** Returns the problems that were not there before: what an instance suffered from already is no fault of an upgrade. */
export function newProblems(before: Problems, now: Problems): readonly string[] {
  return [...now].filter(([area]) => !before.has(area)).map(([, message]) => message);
}

/** Asks the doctor of an instance that runs. It asks nothing outside: a model that is down is no reason to go back. */
export async function problemsOf(containers: Containers, name: string): Promise<Problems> {
  return problemsIn(await containers.claw(name, ['doctor', '--offline', '--json']));
}

/** Asks the doctor of a volume that no container uses. */
export async function problemsInVolume(
  containers: Containers,
  version: Version,
): Promise<Problems> {
  return problemsIn(await containers.runClaw(version, ['doctor', '--offline', '--json']));
}

function problemsIn({ stdout, stderr }: Ended): Problems {
  const read = Findings.safeParse(jsonOfInstance(stdout));
  if (!read.success)
    return new Map([['doctor', `its doctor says nothing: ${visible(stderr.slice(-300))}`]]);
  const wrong = read.data.data.findings.filter(({ ok }) => !ok);
  return new Map(wrong.map(({ area, message }) => [area, visible(message.slice(0, 2_000))]));
}

/** Returns the digest of the published code, from the result of `claw status --json`. */
export function publishedIn({ stdout }: Ended): string {
  return Status.parse(jsonOfInstance(stdout)).data.state;
}
