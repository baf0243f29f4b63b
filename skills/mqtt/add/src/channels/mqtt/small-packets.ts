import packets from 'mqtt-packet';

/**
 * Keeps the writer of packets from making a buffer of each number up to 65,535 beforehand, which is 8 MB: a number is made
 * when a packet needs it. All clients of this process are concerned; it has to be said before the first packet.
 */
export function keepPacketsSmall(): void {
  packets.writeToStream.cacheNumbers = false;
}
