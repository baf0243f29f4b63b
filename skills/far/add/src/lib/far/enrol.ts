import { setTimeout as sleep } from 'node:timers/promises';
import { createUser } from '@nats-io/nkeys';
import { connectFar, type FarConnection } from './far-connection.ts';
import { FarRefused } from './far-state.ts';
import type { JoinCode } from './join-code.ts';

const ANSWER_TIMEOUT_MS = 20_000;
/** The home may be dialling the server again when the key is shown, and hears nothing of it. */
const SHOW_AGAIN_MS = 2_000;
/** A server that is busy takes a while to read its file again; a wrong code is refused for as long. */
const CODE_DIALS = 10;
/** This machine is in the file already, as the home has said. */
const OWN_DIALS = 120;
/** A server that reads its file again in the middle of a handshake breaks it, or gives no answer. */
const BROKEN_DIALS = 3;
const DIAL_PAUSE_MS = 500;

/**
 * Shows a code and a key of this machine's own. The key never leaves it, and the code is worth nothing afterwards.
 *
 * @returns the seed of this machine's key
 * @throws FarRefused where the server cannot be reached or does not take the code
 */
export async function enrol(code: JoinCode): Promise<string> {
  const user = createUser();
  const answer = Promise.withResolvers<string>();
  const refuse = (reason: string) => answer.reject(new Error(reason));
  const connection = await dial(code, CODE_DIALS, refuse);
  const late = setTimeout(
    () => answer.reject(new Error('nobody answers, so the assistant there may not be running')),
    ANSWER_TIMEOUT_MS,
  );
  const show = () => connection.publish(`far.enrol.${code.name}`, user.getPublicKey());
  const again = setInterval(show, SHOW_AGAIN_MS);
  let problem: string | null = null;
  try {
    connection.subscribe(`far.enrolled.${code.name}`, (_, message) =>
      answer.resolve(message.toString()),
    );
    await connection.flush();
    show();
    const word = await answer.promise;
    if (word !== user.getPublicKey()) throw new Error('another machine has used this code');
  } catch (error) {
    problem = `This machine could not join: ${(error as Error).message}.`;
  } finally {
    clearTimeout(late);
    clearInterval(again);
    await connection.close();
  }
  const seed = new TextDecoder().decode(user.getSeed());
  // The server lets it in once it has read its file again. By that it ends the code's connection, and the home's word may
  // not have come through before. A key that the server knows is one that the home has taken.
  try {
    await waitUntilLetIn({ ...code, seed }, problem === null ? OWN_DIALS : CODE_DIALS);
    return seed;
  } catch (error) {
    throw problem === null ? error : new FarRefused(problem);
  }
}

/** Waits for a server that reads its file again. @throws FarRefused where it does not let this machine in for a minute */
export async function waitUntilLetIn(own: JoinCode, dials = OWN_DIALS): Promise<void> {
  const connection = await dial(own, dials, () => {});
  await connection.close();
}

/** Dials a few times: the server may still be reading the file with a code that was made just now. */
async function dial(
  code: JoinCode,
  dials: number,
  onRefused: (reason: string) => void,
): Promise<FarConnection> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await connectFar({ ...code, waitsForServer: false, onUp: () => {}, onRefused });
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const { name, host, port } = code;
      if (!isRefusal(error) && attempt >= BROKEN_DIALS) {
        throw new FarRefused(
          `${host}:${port} cannot be reached from here (${error.message}). Is the assistant there running, and does a firewall let port ${port} through?`,
        );
      }
      if (attempt === dials) {
        throw new FarRefused(
          `${host}:${port} does not take this code: a code is good once, and for 15 minutes. Ask for a new one with \`npx claw far add ${name}\` there.`,
        );
      }
      await sleep(DIAL_PAUSE_MS);
    }
  }
}

/** The server has answered, and does not let this key in. */
function isRefusal({ name, message }: Error): boolean {
  return /Authorization/.test(name) || /authorization/i.test(message);
}
