import { createContext, useContext } from 'react';

/** Runs an act; if the service wants the session confirmed first, asks for the password and runs it again. */
export type Confirmed = <Result>(act: () => Promise<Result>) => Promise<Result>;

/** The shell provides it, because asking needs a dialog. */
export const Confirmation = createContext<Confirmed>((act) => act());

export const useConfirmation = (): Confirmed => useContext(Confirmation);
