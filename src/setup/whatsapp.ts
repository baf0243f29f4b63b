import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { pause } from '../channels/kit/backoff.ts';
import { readLinkState } from '../channels/whatsapp/session/link-state.ts';
import type { PairingMethod, PairingOptions } from '../channels/whatsapp/session/pairing.ts';
import { defineSetup, type SetupContext, type SetupOutcome, SetupRefused } from './step.ts';

const USAGE = '[--phone NUMBER] [--qr-file PATH] [--again]';

/** Links the assistant to the owner's phone. */
export const setup = defineSetup({
  name: 'whatsapp',
  help: 'link the assistant to WhatsApp on your phone, by QR code or with --phone by a code to type',
  usage: USAGE,
  again: ['--again'],
  currentState({ dataDir }) {
    const link = readLinkState(dataDir);
    if (link.kind === 'paired') return `paired with +${link.phoneNumber}`;
    return link.kind === 'in-use' ? 'paired, and in use' : null;
  },
  run: (context) => setUpWhatsApp(context),
});

/** @param endpoint another endpoint than WhatsApp's own, for tests */
export async function setUpWhatsApp(
  context: SetupContext,
  endpoint?: PairingOptions['endpoint'],
): Promise<SetupOutcome> {
  const given = readArguments(context.args);
  const { dataDir } = context;
  const { pair } = await import('../channels/whatsapp/session/pairing.ts');
  const { WhatsAppError } = await import('../channels/whatsapp/failure.ts');
  const display = given.phoneNumber === null ? await displayOf(context, given) : null;
  const { phoneNumber } = given;
  const method: PairingMethod =
    phoneNumber === null
      ? { kind: 'qr', show: (qr) => display?.show(qr) }
      : { kind: 'code', phoneNumber, show: (code) => context.say(codeText(code)) };
  let ending = 'Nothing was paired. You can close this page.';
  try {
    const { signal } = context;
    const log = { info: () => {}, warn: () => {} };
    const clock = { now: Date.now, pause };
    const options = { dataDir, method, log, clock, signal, isAgain: given.isAgain };
    const account = await pair(endpoint === undefined ? options : { ...options, endpoint });
    ending = `Paired with +${account.phoneNumber}. You can close this page.`;
    return {
      summary: `Paired with +${account.phoneNumber}.`,
      data: account,
    };
  } catch (error) {
    if (!(error instanceof WhatsAppError)) throw error;
    const again = error.code === 'ALREADY_PAIRED' ? ' Add --again to pair it again.' : '';
    ending = `${error.message} You can close this page.`;
    throw new SetupRefused(`${error.message}${again}`, { cause: error });
  } finally {
    await display?.close(ending);
  }
}

type StepArguments = {
  readonly phoneNumber: string | null;
  readonly qrFile: string | null;
  readonly isAgain: boolean;
  readonly isRelayed: boolean;
};

function readArguments(args: readonly string[]): StepArguments {
  const options = {
    phone: { type: 'string' },
    'qr-file': { type: 'string' },
    again: { type: 'boolean', default: false },
    relay: { type: 'boolean', default: false },
  } as const;
  try {
    const { values } = parseArgs({ args: [...args], options, allowPositionals: false });
    const phoneNumber = values.phone?.replace(/[\s()./-]/g, '').replace(/^\+/, '') ?? null;
    if (phoneNumber !== null && !/^[1-9]\d{6,14}$/.test(phoneNumber)) {
      throw new Error(
        `${values.phone} is not a phone number with its country code, such as +49 151 …`,
      );
    }
    const { again: isAgain, relay: isRelayed } = values;
    return { phoneNumber, qrFile: values['qr-file'] ?? null, isAgain, isRelayed };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SetupRefused(`${reason}. Use: npx claw setup whatsapp ${USAGE}`, {
      cause: error,
      isWrongUse: true,
    });
  }
}

function codeText(code: string): string {
  return (
    `On the phone: WhatsApp, Linked devices, Link a device, Link with phone number instead.\n` +
    `Then type ${code}`
  );
}

async function displayOf(context: SetupContext, { qrFile, isRelayed }: StepArguments) {
  const { openDisplay } = await import('./link-code/display.ts');
  const { isInteractive, rows, say, dataDir } = context;
  const how = 'On the phone: WhatsApp, Linked devices, Link a device. Then scan this code.';
  const folder = join(dataDir, 'whatsapp');
  return await openDisplay({
    title: 'WhatsApp',
    how,
    isInteractive,
    rows,
    say,
    qrFile,
    folder,
    isRelayed,
  });
}
