import { resultOf, type VerbResult } from '../contract/result.ts';
import { readConfig } from '../installed/config.ts';
import { readState } from '../installed/state-file.ts';
import type { EngineContext } from '../operation/context.ts';
import { kept } from './doctor/claw-folder.ts';
import type { Check, Finding, Subject } from './doctor/finding.ts';
import { machine } from './doctor/machine.ts';
import { operations } from './doctor/operations.ts';
import { project } from './doctor/project.ts';
import { stateFile } from './doctor/state.ts';

const CHECKS: readonly Check[] = [...machine, stateFile, ...kept, ...operations, ...project];

/**
 * Looks at everything that commands rely on, changes nothing (it does not even recover), and says
 * what can be done. Fails where something is not well; never throws because of it.
 */
export async function doctor({
  root,
  environment,
  now,
}: EngineContext): Promise<VerbResult<'doctor'>> {
  const subject: Subject = {
    root,
    environment,
    now,
    state: orNull(() => readState(root)),
    config: orNull(() => readConfig(root)),
  };
  const findings: Finding[] = [];
  for (const check of CHECKS) {
    const finding = await runCheck(check, subject);
    if (finding !== null) findings.push(finding);
  }
  const isWell = findings.every(({ ok }) => ok);
  return resultOf('doctor', isWell ? 'done' : 'failed', { data: { findings } });
}

async function runCheck({ area, run }: Check, subject: Subject): Promise<Finding | null> {
  try {
    const look = await run(subject);
    return look && { area, ...look };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const advice = 'Fix that first: claw could not look any further.';
    return { area, ok: false, message, advice };
  }
}

/** Returns null for anything unreadable: its own check reports why. */
function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
