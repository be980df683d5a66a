-- CreateEnum
CREATE TYPE "BanType" AS ENUM ('hwid', 'ip');

-- CreateTable
CREATE TABLE "bans" (
    "id" UUID NOT NULL,
    "application_id" UUID NOT NULL,
    "ban_type" "BanType" NOT NULL,
    "value" TEXT NOT NULL,
    "source_license_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "bans_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "bans_value_not_empty" CHECK ("value" <> '')
);

-- CreateIndex
CREATE UNIQUE INDEX "bans_application_id_ban_type_value_key" ON "bans"("application_id", "ban_type", "value");

-- CreateIndex
CREATE INDEX "bans_application_id_id_idx" ON "bans"("application_id", "id");

-- CreateIndex
CREATE INDEX "bans_source_license_id_idx" ON "bans"("source_license_id");

-- AddForeignKey
ALTER TABLE "bans" ADD CONSTRAINT "bans_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "bans" ADD CONSTRAINT "bans_source_license_id_fkey" FOREIGN KEY ("source_license_id") REFERENCES "licenses"("id") ON DELETE SET NULL ON UPDATE CASCADE;
