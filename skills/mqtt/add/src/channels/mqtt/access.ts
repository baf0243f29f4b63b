import { allowListRule } from '../kit/allow-list.ts';
import type { MqttSettings } from './settings.ts';

/** Returns the reason why the list cannot be used, with the line to add to `.env`; null for none. */
export const allowListProblem = allowListRule({
  name: 'MQTT_ALLOW_FROM',
  purpose: 'write by MQTT',
  example: '<sender_id of your device>',
  hint: 'A message without a sender_id is from unknown.',
});

/** Returns the reason why the channel cannot start, with what to set; null for none. */
export function settingsProblem(settings: MqttSettings): string | null {
  return allowListProblem(settings.allowFrom) ?? settings.mapProblem;
}
