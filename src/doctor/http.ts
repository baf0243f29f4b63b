import { readAddress, tokenFile } from '../http/files.ts';
import { isRunning } from '../supervisor/instance-lock.ts';
import { type Examination, ok } from './examination.ts';

const AREA = 'http';
const WAIT_MS = 2_000;

/** The HTTP server of the running assistant: its address, and how the owner gets in. */
export const examination: Examination = {
  area: AREA,
  order: 76,
  async examine({ dataDir }) {
    const address = readAddress(dataDir);
    if (address === null || !isRunning(dataDir) || !(await isOurs(address))) return [];
    const advice = `In a browser: ${address}/?token= and then what is in ${tokenFile(dataDir)}.`;
    return [ok(AREA, `pages and hooks are at ${address}, for this machine alone`, advice)];
  },
};

/** The address is where it listened last, which need not be now. */
async function isOurs(address: string): Promise<boolean> {
  const signal = AbortSignal.timeout(WAIT_MS);
  const response = await fetch(address, { signal, redirect: 'manual' }).catch(() => null);
  const text = (await response?.text().catch(() => '')) ?? '';
  return response?.status === 401 && text.includes('data/http/token');
}
