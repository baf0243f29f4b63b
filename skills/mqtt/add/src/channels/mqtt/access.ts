import type { MqttSettings } from './settings.ts';

/** Returns the reason why the list cannot be used, with the line to add to `.env`; null for none. */
export function allowListProblem(allowFrom: readonly string[]): string | null {
  if (allowFrom.length > 0) return null;
  return (
    'Nobody is allowed to write by MQTT yet. Add MQTT_ALLOW_FROM=<sender_id of your device> to .env and restart. ' +
    'A message without a sender_id is from unknown.'
  );
}

/** Returns the reason why the channel cannot start, with what to set; null for none. */
export function settingsProblem(settings: MqttSettings): string | null {
  return allowListProblem(settings.allowFrom) ?? settings.mapProblem;
}
