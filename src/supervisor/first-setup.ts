import { spawn } from 'node:child_process';
import type { Environment } from './environment.ts';

/** Names of settings that show that a model is set up, or was meant to be. */
const OF_A_MODEL = /^MODEL$|_API_KEY$|_BASE_URL$/;

/**
 * Lets the owner connect a model at the terminal before the assistant greets, unless a setting names one. The assistant
 * starts afterwards, even if the owner cancels the set-up or it fails.
 */
export async function offerSetup(parts: {
  readonly nodePath: string;
  readonly clawPath: string;
  readonly projectDir: string;
  readonly environment: Environment;
}): Promise<void> {
  const { nodePath, clawPath, projectDir, environment } = parts;
  if (Object.entries(environment).some(([name, value]) => OF_A_MODEL.test(name) && value)) return;
  // Ctrl-C goes to the set-up, which the terminal shares with this process.
  const ignore = (): void => {};
  process.on('SIGINT', ignore);
  try {
    await new Promise((resolve) => {
      const args = [clawPath, 'setup', '--cwd', projectDir, '--if-needed', '--no-restart'];
      spawn(nodePath, args, { stdio: ['inherit', 'ignore', 'inherit'] })
        .on('error', resolve)
        .on('close', resolve);
    });
  } finally {
    process.off('SIGINT', ignore);
  }
}
