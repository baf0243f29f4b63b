/** A git command's output, or one line on why it failed. */
export type GitResult = { readonly ok: boolean; readonly stdout: string; readonly reason: string };

/** Runs one git command in the project. Never rejects. */
export type Git = (args: readonly string[]) => Promise<GitResult>;

export type GitOptions = {
  readonly projectDir: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

const TIMEOUT_MS = 120_000;

/** Creates a runner of the project's git. It never asks for a password: there is no terminal to type it in. */
export function gitRunner({ projectDir, environment }: GitOptions): Git {
  return async (args) => {
    const { execa } = await import('execa');
    const { stdout, stderr, exitCode, shortMessage } = await execa('git', [...args], {
      cwd: projectDir,
      env: { GIT_SSH_COMMAND: 'ssh -oBatchMode=yes', ...environment, GIT_TERMINAL_PROMPT: '0' },
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
      timeout: TIMEOUT_MS,
    });
    const reason = stderr?.trim().split('\n').at(-1) || (shortMessage ?? 'git cannot be run');
    return { ok: exitCode === 0, stdout, reason: reason.replace(/\.$/, '') };
  };
}

/** A release to update to, or a sentence on why there is none. */
export type NewestRelease =
  | { readonly kind: 'found'; readonly ref: string }
  | { readonly kind: 'none'; readonly text: string };
