import { causeInWords } from '../kit/cause.ts';
import type { ConnectFailure } from '../kit/stay-connected.ts';

/** A failure of the channel. The message says what to do. */
export class MqttError extends Error {
  override readonly name = 'MqttError';
  readonly code:
    | 'CLOSED'
    | 'CUT'
    | 'FILE'
    | 'NOT_CONNECTED'
    | 'SILENT'
    | 'TOPIC_REFUSED'
    | 'UNDERWAY';

  constructor(code: MqttError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** What only a change of settings mends, here or at the broker, is tried this seldom. */
const REFUSED_MS = 60_000;

/** Codes of a CONNACK by which a broker refuses. */
const BAD_CLIENT_ID = 2;
const UNAVAILABLE = 3;
const BAD_CREDENTIALS = 4;
const NOT_AUTHORIZED = 5;

const TLS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired, or the clock of this machine is wrong',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet: is the clock of this machine right?',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is its own: name it in MQTT_CA_FILE',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name than that in MQTT_URL',
  SELF_SIGNED_CERT_IN_CHAIN:
    'nobody here knows who signed its certificate: name that one in MQTT_CA_FILE',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'nobody here knows who signed its certificate: name that one in MQTT_CA_FILE',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'nobody here knows who signed its certificate: name that one in MQTT_CA_FILE',
};

/** Says what is wrong, and what to do. */
export function explainFailure(error: unknown, url: string): ConnectFailure {
  const broker = `The broker (${new URL(url).host})`;
  const passing = (state: 'connecting' | 'failed', detail: string): ConnectFailure => ({
    status: { state, detail },
    isFinal: false,
    waitMs: null,
  });
  const failed = (detail: string) => passing('failed', detail);
  const refused = (detail: string): ConnectFailure => ({
    status: { state: 'refused', detail },
    isFinal: false,
    waitMs: REFUSED_MS,
  });
  if (error instanceof MqttError) {
    if (error.code === 'CUT') return passing('connecting', error.message);
    return error.code === 'TOPIC_REFUSED' || error.code === 'FILE'
      ? refused(error.message)
      : failed(`${broker} ${error.message}`);
  }
  const code = codeOf(error);
  switch (code) {
    case BAD_CREDENTIALS:
    case NOT_AUTHORIZED:
      return refused(
        `${broker} refuses user and password. Correct MQTT_USERNAME and MQTT_PASSWORD in .env and restart.`,
      );
    case BAD_CLIENT_ID:
      return refused(
        `${broker} refuses the client id. Set one that it takes: MQTT_CLIENT_ID in .env.`,
      );
    case UNAVAILABLE:
      return failed(`${broker} is not available now.`);
    default:
      return failed(
        `${broker} cannot be reached (${TLS[String(code)] ?? causeInWords(String(code))}).`,
      );
  }
}

/** @param clientId the name by which the session was opened, where another program may have taken it over */
export function cutOff(url: string, clientId: string | null): MqttError {
  const cut = `The connection to the broker (${new URL(url).host}) was cut. Trying again.`;
  const why = `Is another program connected there as ${clientId}? Give one of them another MQTT_CLIENT_ID.`;
  return new MqttError('CUT', clientId === null ? cut : `${cut} ${why}`);
}

function codeOf(error: unknown): string | number {
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && (typeof error.code === 'string' || typeof error.code === 'number')) {
    return error.code;
  }
  return error.message;
}
