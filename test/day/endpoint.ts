import { WHATSAPP } from '../../src/channels/whatsapp/session/endpoint.ts';
import { endpointOf } from '../../src/testing/whatsapp/linked-channel.ts';

// Loaded before the assistant: what it takes for WhatsApp’s own endpoint is the test's server.
const url = process.env['TEST_WHATSAPP_SOCKET'];
const filesUrl = process.env['TEST_WHATSAPP_FILES'];
if (url !== undefined && filesUrl !== undefined) {
  Object.assign(WHATSAPP, endpointOf({ url, filesUrl }));
}
