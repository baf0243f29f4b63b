/** Data of the result of `claw service`. */
export type ServiceData =
  | { readonly path: string; readonly text: string }
  | { readonly path: string; readonly file: keyof typeof FILES; readonly state: string | null }
  | {
      readonly path: string;
      readonly did: readonly string[];
      readonly run: readonly string[];
      readonly hints: readonly string[];
    };

const NO_ANSWER =
  'The service manager (systemd or launchd) does not answer, so claw cannot tell whether the service runs.';

const FILES = {
  absent: 'is not there; `npx claw service install` writes it',
  installed: 'is as claw writes it',
  outdated: 'was written by another version of claw, or is of another installation',
  edited: 'holds changes of yours',
} as const;

/** Returns lines about steps done and commands left to run, or the file itself. */
export function serviceLines(data: ServiceData): readonly string[] {
  if ('text' in data) return [data.text.trimEnd()];
  if ('state' in data)
    return [
      `${data.path} ${FILES[data.file]}.`,
      data.state === null ? NO_ANSWER : `The service is ${data.state}.`,
    ];
  const { did, run, hints } = data;
  return [
    ...did,
    ...(run.length === 0 ? [] : ['Now run:', ...run.map((line) => `  ${line}`)]),
    ...hints,
  ];
}
