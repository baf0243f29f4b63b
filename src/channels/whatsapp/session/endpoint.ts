import type { Agent } from 'node:https';
import type { MediaOptions } from '../inbound/media.ts';
import { DELIVERY_PACE, type DeliveryPace } from '../outbound/delivery.ts';
import type { Baileys } from './baileys.ts';
import { WHATSAPP_SOCKET } from './socket.ts';
import { fetchVersion, type WebVersion } from './version.ts';

/** The endpoint, and how fast we are with it. Another than WhatsApp's own is for tests. */
export type Endpoint = {
  readonly socketUrl: string;
  readonly media: MediaOptions;
  /** The agent for uploads of files; left out for the ordinary way, over TLS. */
  readonly uploadAgent?: Agent;
  readonly pace: DeliveryPace;
  readonly fetchVersion: (baileys: Baileys) => Promise<WebVersion | null>;
  /** Scales the pauses between attempts to connect. */
  readonly timeScale: number;
};

export const WHATSAPP: Endpoint = {
  socketUrl: WHATSAPP_SOCKET,
  media: { url: 'https://mmg.whatsapp.net', limitBytes: 20_000_000 },
  pace: DELIVERY_PACE,
  fetchVersion,
  timeScale: 1,
};
