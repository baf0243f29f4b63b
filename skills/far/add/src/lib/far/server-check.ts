import { randomUUID } from 'node:crypto';
import { connectBriefly, type FarConnection } from './far-connection.ts';
import type { FarState } from './far-state.ts';

/** Contents are sent in parts of this size at most. */
const MIN_PAYLOAD_BYTES = 1_048_576;
const ANSWER_TIMEOUT_MS = 5_000;

/** The one use that needs it. */
export const NO_JETSTREAM =
  'It has no JetStream in this account: chats run without it, `claw matrix --on far` does not.';

/** A server's state: what keeps it from serving, or its version and what it lacks for some uses. */
export type ServerCheck =
  | { readonly kind: 'unusable'; readonly problem: string; readonly advice: string }
  | { readonly kind: 'usable'; readonly version: string; readonly hasJetStream: boolean };

/** Dials the server as the home does, and tries each right that the home needs there. */
export async function checkServer(state: FarState): Promise<ServerCheck> {
  const address = { ...state.address(), inbox: 'far.home' };
  const opened: FarConnection[] = [];
  const open = async () => {
    const connection = await connectBriefly(address);
    opened.push(connection);
    return connection;
  };
  try {
    // A connection does not hear itself.
    const [one, other] = [await open(), await open()];
    const { info } = one.nats;
    if (info === undefined || info.max_payload < MIN_PAYLOAD_BYTES) {
      return {
        kind: 'unusable',
        problem: `it takes messages of ${info?.max_payload ?? 0} bytes, and ${MIN_PAYLOAD_BYTES} are needed`,
        advice: 'Remove `max_payload` from its settings, or set it to 1MB.',
      };
    }
    if (!(await passes(one, other))) {
      return {
        kind: 'unusable',
        problem: 'it does not let the home send and hear below `far`',
        advice: 'Let its account include the file as Patchclaw wrote it, without rules of its own.',
      };
    }
    return { kind: 'usable', version: info.version, hasJetStream: await hasJetStream(one) };
  } catch (error) {
    return { kind: 'unusable', ...reasonOf(error instanceof Error ? error : new Error('')) };
  } finally {
    for (const connection of opened) await connection.close();
  }
}

async function passes(one: FarConnection, other: FarConnection): Promise<boolean> {
  const heard = Promise.withResolvers<boolean>();
  const subject = `far.check.${randomUUID()}`;
  one.subscribe(subject, () => heard.resolve(true));
  await one.flush();
  other.publish(subject, '');
  const late = setTimeout(() => heard.resolve(false), ANSWER_TIMEOUT_MS);
  try {
    return await heard.promise;
  } finally {
    clearTimeout(late);
  }
}

async function hasJetStream({ nats }: FarConnection): Promise<boolean> {
  try {
    const answer = await nats.request('$JS.API.INFO', '', { timeout: ANSWER_TIMEOUT_MS });
    return !answer.string().includes('"error"');
  } catch {
    // Nobody answers such requests there.
    return false;
  }
}

function reasonOf({ name, message }: Error): { problem: string; advice: string } {
  if (/authorization/i.test(`${name} ${message}`)) {
    return {
      problem: 'it does not know this home',
      advice:
        'Let an account of it include the file that Patchclaw wrote, and read its settings again.',
    };
  }
  if (/certificate|self.signed|altname|issuer/i.test(message)) {
    return {
      problem: `its certificate is not trusted (${message})`,
      advice: 'Name the certificate of the server, or of who signed it, with `--ca`.',
    };
  }
  if (/tls/i.test(message)) {
    return {
      problem: `it speaks no TLS (${message})`,
      advice: 'Give it a certificate: `tls { cert_file, key_file }` in its settings.',
    };
  }
  return {
    problem: `it cannot be reached (${message})`,
    advice: 'Look whether it runs, and whether a firewall lets its port through.',
  };
}
