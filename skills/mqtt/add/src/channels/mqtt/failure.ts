import type { ChannelStatus } from '../channel.ts';
import { causeInWords } from '../kit/cause.ts';

/** A failure of the channel. The message says what to do. */
export class MqttError extends Error {
  override readonly name = 'MqttError';
  readonly code: 'CLOSED' | 'FILE' | 'NOT_CONNECTED' | 'SILENT' | 'TOPIC_REFUSED' | 'UNDERWAY';

  constructor(code: MqttError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A failure, as the channel goes on from it. */
export type Failure = {
  readonly status: ChannelStatus;
  /** Only a change of settings, here or at the broker, mends it: it is tried seldom. */
  readonly isRefusal: boolean;
};

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
export function explainFailure(error: unknown, url: string): Failure {
  const broker = `The broker (${new URL(url).host})`;
  const failed = (detail: string): Failure => ({
    status: { state: 'failed', detail },
    isRefusal: false,
  });
  const refused = (detail: string): Failure => ({
    status: { state: 'refused', detail },
    isRefusal: true,
  });
  if (error instanceof MqttError) {
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

function codeOf(error: unknown): string | number {
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && (typeof error.code === 'string' || typeof error.code === 'number')) {
    return error.code;
  }
  return error.message;
}
