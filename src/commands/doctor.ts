import { z } from 'zod';
import { dataBy } from '../host/contracts/claw.ts';
import { defineCommand } from '../host/contracts/command.ts';

const Findings = z.object({
  findings: z.array(
    z.object({
      area: z.string(),
      ok: z.boolean(),
      message: z.string(),
      advice: z.string().nullable(),
    }),
  ),
});
type Finding = z.output<typeof Findings>['findings'][number];

/** Checks the machine, the code and the assistant. */
export const command = defineCommand({
  scope: 'owner',
  name: 'doctor',
  topic: 'assistant',
  help: 'check everything here and say what to do; `/doctor all` also shows what is fine',
  complete: () => ['all'],
  isCancellable: true,
  async run({ claw, signal }, argument) {
    if (argument !== '' && argument !== 'all') {
      return { kind: 'answer', text: 'Say `/doctor`, or `/doctor all`.' };
    }
    const result = await claw(['doctor'], undefined, signal);
    const found = dataBy(Findings, result);
    if (found === null) {
      const reason = result.error?.message ?? 'the command gave no result.';
      return { kind: 'answer', text: `The doctor could not look: ${reason}` };
    }
    const { findings } = found;
    const shown = argument === 'all' ? findings : findings.filter((finding) => !isFine(finding));
    return { kind: 'answer', text: [...shown.map(lineOf), verdictOn(findings)].join('\n') };
  },
});

function isFine({ ok, advice }: Finding): boolean {
  return ok && advice === null;
}

function lineOf(finding: Finding): string {
  const { area, ok, message, advice } = finding;
  const mark = isFine(finding) ? '✓' : ok ? '!' : '✗';
  return `- ${mark} **${area}**: ${message}${advice === null ? '' : `\n  ${advice}`}`;
}

function verdictOn(findings: readonly Finding[]): string {
  const fine = findings.filter(isFine).length;
  const broken = findings.filter(({ ok }) => !ok).length;
  if (broken > 0) return `${fine} of ${findings.length} are fine; those with ✗ need you.`;
  if (fine < findings.length) return `Everything works; ${fine} of ${findings.length} are fine.`;
  return `Everything works: ${fine} checks.`;
}
