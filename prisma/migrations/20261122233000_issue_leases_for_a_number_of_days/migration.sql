-- Whether an application's clients get leases, with which they go on without the network, and for how many days.
ALTER TABLE "applications" ADD COLUMN "leases_enabled" BOOLEAN NOT NULL DEFAULT false,
    ADD COLUMN "lease_days" INTEGER NOT NULL DEFAULT 7,
    ADD CONSTRAINT "applications_lease_days_is_a_term" CHECK ("lease_days" BETWEEN 1 AND 30);
