import { randomBytes } from 'node:crypto';
import { allowListProblem } from '../channels/mqtt/access.ts';
import { brokerOf, MqttEnvironment, problemOfBroker } from '../channels/mqtt/settings.ts';
import { topicsIn } from '../channels/mqtt/topics.ts';
import type { Trial } from '../channels/mqtt/try-broker.ts';
import { askAllowList, namesOf } from './channel-questions.ts';
import {
  defineSetup,
  type OwnSettings,
  type SetupContext,
  type SetupOutcome,
  SetupRefused,
} from './step.ts';

const WRONG_IDS =
  'Write the sender_id of a device, with commas between several. A message without one is from unknown.';

const TIMEOUT_MS = 20_000;
const IN_FILE = / Correct MQTT_\w+ and MQTT_\w+ in \.env and restart\./;

type Context = SetupContext & OwnSettings<typeof MqttEnvironment.shape>;
type Values = Readonly<Record<string, string>>;

/** Connects the assistant to an MQTT broker. */
export const setup = defineSetup({
  name: 'mqtt',
  help: 'connect the assistant to an MQTT broker, for devices in the house',
  settings: MqttEnvironment,
  currentState({ settings }) {
    const broker = brokerOf(settings);
    if (broker === null) return null;
    return `${broker.url}, ${topicsIn(broker).join(', ')}, and ${namesOf(broker.allowFrom)} may write`;
  },
  run: setUpMqtt,
});

/** Asks for broker, user and topics, tries them, and only then writes `.env`. */
async function setUpMqtt(context: Context): Promise<SetupOutcome> {
  const { settings, say } = context;
  const url = await context.ask({
    message: 'The address of the broker (mqtt://192.168.1.10, or mqtts:// with TLS)',
    ...(settings.MQTT_URL === undefined ? {} : { proposed: settings.MQTT_URL }),
    check: (typed) => problemOfBroker(typed.trim()) ?? unreachable(typed.trim()),
  });
  const topicIn = await context.ask({
    message: 'The topic on which devices write to the assistant',
    proposed: settings.MQTT_TOPIC_IN,
    check: topicProblem,
  });
  const topicOut = await context.ask({
    message: 'The topic on which it answers',
    proposed: settings.MQTT_TOPIC_OUT,
    check: (typed) =>
      topicProblem(typed) ??
      brokerOf(
        context.settingsWith({ MQTT_URL: url, MQTT_TOPIC_IN: topicIn, MQTT_TOPIC_OUT: typed }),
      )?.mapProblem ??
      null,
  });
  const user = await context.ask({
    message: 'The user that the broker knows (- for none, where it lets everybody in)',
    proposed: settings.MQTT_USERNAME || '-',
    check: () => null,
  });
  const username = user.trim() === '-' ? '' : user.trim();
  const values = {
    MQTT_URL: url.trim(),
    MQTT_TOPIC_IN: topicIn.trim(),
    MQTT_TOPIC_OUT: topicOut.trim(),
    MQTT_USERNAME: username,
  };
  const { password, takesQos2 } = await askPassword(context, values);
  say(`The broker lets us in, and lets us read ${topicIn.trim()}.`);
  const allowFrom = await askAllowList(context.ask, {
    message:
      'Who may write: the sender_id of your devices (unknown for those that send none), with commas between',
    ...proposing(settings.MQTT_ALLOW_FROM.join(',')),
    check: (ids) => (allowListProblem(ids) === null ? null : WRONG_IDS),
  });
  const qos = takesQos2 ? '2' : '1';
  if (!takesQos2) say('The broker takes no QoS 2, so answers go out with QoS 1.');
  context.write({
    ...values,
    MQTT_PASSWORD: password,
    MQTT_QOS: qos,
    MQTT_ALLOW_FROM: allowFrom.join(','),
  });
  return {
    summary: `The broker ${url.trim()} lets the assistant in; ${namesOf(allowFrom)} may write to it. .env holds the settings.`,
    data: { url: url.trim(), topicIn: topicIn.trim(), topicOut: topicOut.trim(), qos, allowFrom },
  };
}

/** Asks for the password until the broker takes it. Without a user there is none, and the broker is tried all the same. */
async function askPassword(
  context: Context,
  values: Values,
): Promise<{ readonly password: string; readonly takesQos2: boolean }> {
  let takesQos2 = false;
  const check = async (password: string): Promise<string | null> => {
    const trial = await trialOf(context, { ...values, MQTT_PASSWORD: password });
    if (!trial.ok) return trial.message;
    ({ takesQos2 } = trial);
    return null;
  };
  if (values['MQTT_USERNAME'] === '') {
    const problem = await check('');
    if (problem !== null) throw new SetupRefused(`${problem} Nothing was written.`);
    return { password: '', takesQos2 };
  }
  const password = await context.ask({ message: 'Its password', isSecret: true, check });
  return { password, takesQos2 };
}

async function trialOf({ settingsWith }: Context, values: Values): Promise<Trial> {
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
  const broker = brokerOf(settingsWith({ MQTT_USERNAME: '', MQTT_PASSWORD: '', ...given }));
  if (broker === null) return { ok: false, message: 'This is not an address of a broker.' };
  const { tryBroker } = await import('../channels/mqtt/try-broker.ts');
  const user = given['MQTT_USERNAME'] === undefined ? { username: null, password: null } : {};
  const clientId = `${broker.clientId ?? 'patchclaw'}-${randomBytes(4).toString('hex')}`;
  const how = { clientId, triesQos2: true, timeoutMs: TIMEOUT_MS };
  const trial = await tryBroker({ ...broker, ...user }, how);
  // What a running assistant would have its owner correct in a file is asked for here.
  return trial.ok ? trial : { ...trial, message: trial.message.replace(IN_FILE, '') };
}

/** Looks for the broker as soon as its address is typed, not after all the other questions. */
async function unreachable(url: string): Promise<string | null> {
  const { reachProblem } = await import('../channels/mqtt/try-broker.ts');
  return reachProblem(url, TIMEOUT_MS);
}

/** Proposes what is set already. */
function proposing(present: string): { readonly proposed?: string } {
  return present === '' ? {} : { proposed: present };
}

function topicProblem(typed: string): string | null {
  if (/^\s*\w+:\/\//.test(typed)) {
    return 'That is an address. A topic is a name such as patchclaw/in.';
  }
  return MqttEnvironment.shape.MQTT_TOPIC_IN.safeParse(typed).success && typed.trim() !== ''
    ? null
    : 'A topic is a name such as patchclaw/in, without + and #.';
}
