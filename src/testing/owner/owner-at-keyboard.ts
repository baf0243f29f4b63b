import type { SetupContext } from '../../setup/step.ts';

/**
 * Answers the questions of a set-up step as an owner at the keyboard: in order, each question as often as it takes to
 * find an answer that fits. An empty line is the answer that a question proposes.
 *
 * @public for the tests of skills
 */
export function ownerAtKeyboard(
  answers: readonly string[],
  given: Partial<Pick<SetupContext, 'args' | 'dataDir'>> = {},
) {
  const left = [...answers];
  const problems: string[] = [];
  const said: string[] = [];
  const written: Record<string, string> = {};
  const context: SetupContext = {
    dataDir: '/nowhere/data',
    args: [],
    isInteractive: true,
    ...given,
    say: (text) => void said.push(text),
    async ask({ check, proposed = '' }) {
      for (let typed = left.shift(); typed !== undefined; typed = left.shift()) {
        const answer = typed === '' ? proposed : typed;
        const problem = await check(answer);
        if (problem === null) return answer;
        problems.push(problem);
      }
      throw new Error('the owner has left');
    },
    write: (values) => void Object.assign(written, values),
    signal: new AbortController().signal,
  };
  return { context, problems, said, written, left };
}
