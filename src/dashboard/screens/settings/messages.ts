/** The service's texts for client software, by when they are shown. The API gives texts, but not which are defaults. */
export const messageGroups = [
  {
    name: 'License',
    messages: [
      { key: 'OK', when: 'The license is valid.', text: 'License is valid.' },
      { key: 'LICENSE_NOT_FOUND', when: 'The key does not exist.', text: 'License key not found.' },
      { key: 'BANNED', when: 'The license is banned.', text: 'This license has been banned.' },
      { key: 'SUSPENDED', when: 'The license is suspended.', text: 'This license is suspended.' },
      { key: 'EXPIRED', when: 'The term, and the grace, have ended.', text: 'This license has expired.' },
    ],
  },
  {
    name: 'Application',
    messages: [
      {
        key: 'APP_DISABLED',
        when: 'The application is disabled.',
        text: 'This application is currently disabled.',
      },
      {
        key: 'APP_OUTDATED',
        when: 'The program has another version.',
        text: 'This version is out of date. Please update to the latest version.',
      },
      {
        key: 'IP_BANNED',
        when: 'The address is banned.',
        text: 'Access from your network address has been blocked.',
      },
      {
        key: 'HWID_BANNED',
        when: 'The device is banned.',
        text: 'Access from this device has been blocked.',
      },
    ],
  },
  {
    name: 'Devices',
    messages: [
      {
        key: 'HWID_MISMATCH',
        when: 'The license is for one device, and bound to another.',
        text: 'This license is bound to another device.',
      },
      {
        key: 'DEVICE_LIMIT',
        when: 'All places for devices are taken.',
        text: 'This license is in use on as many devices as it allows.',
      },
      {
        key: 'DEVICE_RELEASED',
        when: 'The device was released.',
        text: 'This device has been released from the license.',
      },
      {
        key: 'DEVICE_UNKNOWN',
        when: 'The device to release is not bound.',
        text: 'This license is not bound to such a device.',
      },
      {
        key: 'SELF_SERVICE_OFF',
        when: 'Customers cannot move this license.',
        text: 'The devices of this license can only be changed by its vendor.',
      },
      {
        key: 'MOVE_COOLDOWN',
        when: 'The last move was a short time ago.',
        text: 'A device was moved a short time ago. Try again later.',
      },
      {
        key: 'MOVES_EXHAUSTED',
        when: 'No moves are left in this period.',
        text: 'No more devices can be moved for now. Try again later.',
      },
    ],
  },
  {
    name: 'Users',
    messages: [
      { key: 'REGISTER_DISABLED', when: 'Registration is off.', text: 'Registration is currently closed.' },
      {
        key: 'LICENSE_REQUIRED',
        when: 'Someone registers without a key.',
        text: 'A license key is required to register.',
      },
      {
        key: 'INVALID_CREDENTIALS',
        when: 'Wrong username or password.',
        text: 'Wrong username or password.',
      },
      { key: 'USERNAME_TAKEN', when: 'The username is in use.', text: 'This username is already taken.' },
      { key: 'USER_NOT_FOUND', when: 'The user does not exist.', text: 'User not found.' },
      {
        key: 'TIER_NOT_HIGHER',
        when: 'An upgrade has no higher tier.',
        text: 'The new license must be of a higher tier than the current one.',
      },
    ],
  },
] as const;

export type Message = (typeof messageGroups)[number]['messages'][number];
export type MessageKey = Message['key'];

const all: readonly Message[] = messageGroups.flatMap(({ messages }) => [...messages]);

export const isMessageKey = (key: string): key is MessageKey => all.some((message) => message.key === key);

const entries = all.map(({ key, text }) => [key, text] as const);

/** Every key has a text: the map is made of the same list as its type. */
export const defaultTexts = Object.fromEntries(entries) as Readonly<Record<MessageKey, string>>;
