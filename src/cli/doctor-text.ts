/** What `claw doctor` found, as its result carries it. */
export type DoctorData = {
  readonly findings: readonly {
    readonly area: string;
    readonly ok: boolean;
    readonly message: string;
    readonly advice: string | null;
  }[];
};

/** One line for each finding, the advice below it, and the verdict. */
export function doctorLines({ findings }: DoctorData): readonly string[] {
  const width = Math.max(...findings.map(({ area }) => area.length));
  const lines = findings.flatMap(({ area, ok, message, advice }) => {
    const mark = ok ? (advice === null ? '✓' : '!') : '✗';
    const head = `${mark} ${area.padEnd(width)}  ${message}`;
    return advice === null ? [head] : [head, `${' '.repeat(width + 4)}${advice}`];
  });
  const count = findings.filter(({ ok }) => !ok).length;
  const verdict =
    count === 0 ? 'All is well.' : `${count} of these ${count === 1 ? 'needs' : 'need'} you.`;
  return [...lines, verdict];
}
