-- What was issued to each device, so that the sequence numbers of its leases rise and a revocation is listed for as long as
-- one of them runs. A lease outlives its license: without a foreign key, its row does, too.
CREATE TABLE "leases" (
    "application_id" UUID NOT NULL,
    "license_id" UUID NOT NULL,
    "device_hash" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,
    "rev" BIGINT NOT NULL,
    "jti" UUID NOT NULL,
    "issued_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "logged_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_rev" BIGINT,

    CONSTRAINT "leases_pkey" PRIMARY KEY ("application_id", "license_id", "device_hash"),
    CONSTRAINT "leases_device_hash_is_sha256" CHECK ("device_hash" ~ '^[A-Za-z0-9_-]{43}$')
);

-- CreateIndex
CREATE INDEX "leases_application_id_device_hash_idx" ON "leases"("application_id", "device_hash");

-- CreateIndex
CREATE INDEX "leases_expires_at_idx" ON "leases"("expires_at");

-- AddForeignKey
ALTER TABLE "leases" ADD CONSTRAINT "leases_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- A row of its own: revocations do not wait for other changes of the application.
CREATE TABLE "revocation_counters" (
    "application_id" UUID NOT NULL,
    "rev" BIGINT NOT NULL,

    CONSTRAINT "revocation_counters_pkey" PRIMARY KEY ("application_id")
);

-- AddForeignKey
ALTER TABLE "revocation_counters" ADD CONSTRAINT "revocation_counters_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The device that an offline lease has bound a license to: the service knows only the hash of its HWID.
ALTER TABLE "licenses" ADD COLUMN "device_hash" TEXT;
