import type { DataOf } from '../../commands.ts';

const FORMS = { 'line-ends': 'line ends', mode: 'mode' } as const;

/** Returns lines of the disk that differ from what was published. */
export function verifyLines(data: DataOf<'verify'>): readonly string[] {
  if (data.clean) return ['Disk, state and composition agree.'];
  const edits = data.edits.map(({ path, owner, lines, form, touches }) => {
    const ranges = lines
      .map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`))
      .join(', ');
    const also = form.map((word) => ` (${FORMS[word]})`).join('');
    const others = touches.filter((name) => name !== 'core');
    const whose = others.length === 0 ? '' : `, in lines of ${others.join(', ')}`;
    return `  ${path}${ranges === '' ? '' : `:${ranges}`}${also}  ${owner}${whose}`;
  });
  const recomposed = data.recomposed.map(
    (path) => `  ${path}  this engine would compose it otherwise`,
  );
  const lines = [...edits, ...recomposed];
  return lines.length === 0 ? [] : ['Differs from what was published:', ...lines];
}
