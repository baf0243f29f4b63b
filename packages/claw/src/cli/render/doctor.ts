import { type Colour, painted, type Screen } from '../screen.ts';
import { wrapped } from './wrapped.ts';

/** Data of the result of `claw doctor`. */
export type DoctorData = {
  readonly findings: readonly FoundByDoctor[];
};

type FoundByDoctor = {
  /** The code and what changes it, or the assistant that it is. */
  readonly part?: 'code' | 'assistant';
  readonly area: string;
  readonly ok: boolean;
  readonly message: string;
  readonly advice: string | null;
};

const HEADINGS = { code: 'The code', assistant: 'The assistant' } as const;

/** Returns one line for each finding, the advice below it, and the verdict. */
export function doctorLines({ findings }: DoctorData, screen: Screen): readonly string[] {
  const width = Math.max(...findings.map(({ area }) => area.length));
  const hasParts = findings.some(({ part }) => part === 'assistant');
  const lines = findings.flatMap((finding, n) => {
    const { part = 'code' } = finding;
    const isFirst = hasParts && (n === 0 || findings[n - 1]?.part !== part);
    const heading = isFirst ? [...(n === 0 ? [] : ['']), HEADINGS[part]] : [];
    return [...heading, ...findingLines(finding, width, screen)];
  });
  return [...lines, ...(hasParts ? [''] : []), verdict(findings)];
}

function findingLines(finding: FoundByDoctor, width: number, screen: Screen): readonly string[] {
  const { area, ok, message, advice } = finding;
  const [mark, colour] = markOf(ok, advice);
  const head = `${painted(mark, colour, screen)} ${area.padEnd(width)}  ${message}`;
  const hang = width + 4;
  const remedy = advice === null ? [] : [`${' '.repeat(hang)}${painted(advice, 'dim', screen)}`];
  return [head, ...remedy].flatMap((line) => wrapped(line, screen, hang));
}

function markOf(ok: boolean, advice: string | null): readonly [string, Colour] {
  if (!ok) return ['✗', 'red'];
  return advice === null ? ['✓', 'green'] : ['!', 'yellow'];
}

function verdict(findings: DoctorData['findings']): string {
  const { length } = findings.filter(({ ok }) => !ok);
  const suggestions = findings.filter(({ ok, advice }) => ok && advice !== null).length;
  if (length === 0 && suggestions > 0) {
    return `Everything works; ${suggestions} ${suggestions === 1 ? 'suggestion' : 'suggestions'} above.`;
  }
  return length === 0
    ? 'Everything works.'
    : `${length} of these ${length === 1 ? 'needs' : 'need'} you.`;
}
