import { UpdateData } from '@patchclaw/claw/contract';
import { type ClawResult, dataBy } from '../contracts/claw.ts';
import type { CommandQuestion } from '../contracts/command.ts';

/**
 * Asks what becomes of the layers that a release contains, where the owner has to say it. Each answer is
 * the command again, with the option that says so.
 *
 * @param typed the command as the owner says it
 * @returns null where nothing is open
 */
export function retirementQuestion(plan: ClawResult, typed: string): CommandQuestion | null {
  const contained = dataBy(UpdateData, plan)?.contained ?? [];
  const open = contained.filter(({ fate }) => fate === 'open');
  if (open.length === 0) return null;
  const names = open.map(({ name }) => name);
  const lines = open.map(({ name, commits }) => {
    if (commits === 0) return `- ${name}: it would change nothing any more`;
    return `- ${name}: ${commits === 1 ? 'the commit' : `all ${commits} commits`} that it was made of`;
  });
  const choices = [
    {
      word: 'retire',
      label: `take ${names.join(', ')} out with the update; the tests and SKILL.md leave too`,
      run: `${typed} retire-contained`,
    },
    {
      word: 'keep',
      label: `keep ${names.join(', ')}`,
      run: [typed, ...names.map((name) => `keep ${name}`)].join(' '),
    },
    { word: 'give up', label: 'give up: the core stays as it is', run: null },
  ];
  return {
    kind: 'ask',
    text: `This release contains:\n${lines.join('\n')}`,
    data: null,
    declined: `The core stays as it is. Say \`${typed}\` when you want it.`,
    choices,
  };
}
