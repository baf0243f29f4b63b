import type { Devices, Loopback } from './route.ts';
import type { LoopbackOptions } from './server.ts';

/** Makes the HTTP server with the first route: without one, not even Node's own is loaded. */
export function openLoopback(options: LoopbackOptions): Loopback {
  let opening: Promise<Loopback> | null = null;
  let opened: Loopback | null = null;

  async function open(): Promise<Loopback> {
    const { createLoopback } = await import('./server.ts');
    opened = createLoopback(options);
    return opened;
  }

  function devices(): Devices {
    if (opened === null)
      throw new Error('There are no pages before the first route is registered.');
    return opened.devices;
  }

  return {
    async route(service, route) {
      opening ??= open();
      return await (await opening).route(service, route);
    },
    address: () => opened?.address() ?? null,
    devices: {
      invite: (scope) => devices().invite(scope),
      enter: (request, code, name) => devices().enter(request, code, name),
      list: () => devices().list(),
      revoke: (id) => devices().revoke(id),
      origins: () => devices().origins(),
    },
    close: async () => void (await (await opening)?.close()),
  };
}
